/** The panel of the block editor, from WordPress's own scripts. */

/** The field that the plugin adds to a post. */
interface View {
  readonly off: boolean;
  readonly text: string;
  readonly busy: boolean;
  readonly button: string;
}

declare const carillonTexts: { readonly off: string; readonly question: string };

/** The used part of WordPress's scripts, which have no types. */
declare const wp: {
  apiFetch(request: object): Promise<{ readonly carillon: View }>;
  components: Record<'Button' | 'CheckboxControl', unknown>;
  data: {
    useSelect<Result>(select: (store: (name: string) => Store) => Result, needs: unknown[]): Result;
    useDispatch(name: string): { editPost(edits: object): void };
  };
  element: {
    createElement(type: unknown, properties: object | null, ...children: unknown[]): unknown;
    Fragment: unknown;
    useEffect(effect: () => unknown, needs: unknown[]): void;
    useState<Value>(initial: Value): [Value, (value: Value) => void];
  };
  plugins: { registerPlugin(name: string, settings: object): void };
  /** Since WordPress 6.6. */
  editor?: Panels;
  editPost: Panels;
};

type Panels = Readonly<Record<(typeof panels)[number], unknown>>;

interface Store {
  getCurrentPostId(): number;
  getCurrentPostType(): string;
  getCurrentPostAttribute(name: string): unknown;
  getEditedPostAttribute(name: string): unknown;
  getPostType(name: string): { rest_base: string; rest_namespace: string } | undefined;
}

const panels = [
  'PluginDocumentSettingPanel',
  'PluginPrePublishPanel',
  'PluginPostPublishPanel',
] as const;

const { createElement, Fragment, useEffect, useState } = wp.element;

const refreshMs = 3000;

function Announcement() {
  const { stored, edited, status, path } = wp.data.useSelect((store) => {
    const editor = store('core/editor');
    const type = store('core').getPostType(editor.getCurrentPostType());
    return {
      stored: editor.getCurrentPostAttribute('carillon') as View | undefined,
      edited: editor.getEditedPostAttribute('carillon') as View | undefined,
      status: editor.getCurrentPostAttribute('status'),
      path: type && `/${type.rest_namespace}/${type.rest_base}/${editor.getCurrentPostId()}`,
    };
  }, []);
  const { editPost } = wp.data.useDispatch('core/editor');
  const [latest, setLatest] = useState<View | undefined>(undefined);
  const view = latest ?? stored;

  // What was saved is newer.
  useEffect(() => setLatest(undefined), [stored]);
  useEffect(() => {
    if (!view?.busy || !path) return undefined;
    const timer = setTimeout(async () => {
      const request = { path: `${path}?context=edit&_fields=carillon` };
      const { carillon } = await wp.apiFetch(request).catch(() => ({ carillon: { ...view } }));
      setLatest(carillon);
    }, refreshMs);
    return () => clearTimeout(timer);
  }, [view, path]);

  async function announce() {
    if (!confirm(carillonTexts.question)) return;
    const data = { carillon: { announce: true } };
    setLatest((await wp.apiFetch({ path, method: 'POST', data })).carillon);
  }

  if (!view) return null;
  const choice = createElement(wp.components.CheckboxControl, {
    label: carillonTexts.off,
    checked: edited?.off ?? false,
    onChange: (off: boolean) => editPost({ carillon: { ...stored, off } }),
    __nextHasNoMarginBottom: true,
  });
  const button = createElement(
    wp.components.Button,
    { variant: 'secondary', onClick: announce },
    view.button,
  );
  const isPublished = status === 'publish' || status === 'private';
  return createElement(
    Fragment,
    null,
    createElement('p', { role: 'status' }, view.text),
    !isPublished && choice,
    view.button && button,
  );
}

wp.plugins.registerPlugin('carillon', {
  icon: 'bell',
  render() {
    const content = createElement(Announcement, null);
    const own = wp.editor && panels[0] in wp.editor ? wp.editor : wp.editPost;
    return createElement(
      Fragment,
      null,
      ...panels.map((name) =>
        createElement(
          own[name],
          { name: 'carillon', title: 'Carillon', initialOpen: true },
          content,
        ),
      ),
    );
  },
});
