/** Texts of one recipient, by the names of the placeholders that they replace. */
export type Values = Readonly<Record<string, string>>;

/** The members of a notification that may have placeholders. */
export interface Template {
  readonly title: string;
  readonly body?: string | undefined;
  readonly url?: string | undefined;
  readonly image?: string | undefined;
  readonly actions?:
    | readonly { readonly title: string; readonly url?: string | undefined }[]
    | undefined;
}

/** A text of a template. */
export interface TemplateText {
  /** Such as `['actions', 0, 'url']`. */
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly isUrl: boolean;
}

/** `{{name}}`, with spaces inside the braces if the sender likes. */
const placeholder = /\{\{ *(\w{1,32}) *\}\}/g;

/** The content as the recipient with these values gets it. A value is not rendered again. */
export function rendered<Content extends Template>(content: Content, values: Values): Content {
  const text = (template: string) => filled(template, values);
  const url = (template: string) => filledUrl(template, values);
  const { title, body, url: link, image, actions } = content;
  return {
    ...content,
    title: text(title),
    ...(body !== undefined && { body: text(body) }),
    ...(link !== undefined && { url: url(link) }),
    ...(image !== undefined && { image: url(image) }),
    ...(actions !== undefined && {
      actions: actions.map((action) => ({
        ...action,
        title: text(action.title),
        ...(action.url !== undefined && { url: url(action.url) }),
      })),
    }),
  };
}

/** A text with its values. A placeholder without a value stays as it is written. */
function filled(template: string, values: Values, encode = (value: string) => value): string {
  return template.replace(placeholder, (written, name: string) =>
    Object.hasOwn(values, name) ? encode(values[name]!) : written,
  );
}

/** The same for a URL: values are percent-encoded. */
export function filledUrl(template: string, values: Values): string {
  return filled(template, values, encodeURIComponent);
}

/** A text in which each placeholder is replaced by the same text. */
export function withAll(template: string, text: string): string {
  return template.replace(placeholder, () => text);
}

/** The texts of a template that are there. */
export function textsOf({ title, body, url, image, actions = [] }: Template): TemplateText[] {
  const all: { path: TemplateText['path']; text: string | undefined; isUrl: boolean }[] = [
    { path: ['title'], text: title, isUrl: false },
    { path: ['body'], text: body, isUrl: false },
    { path: ['url'], text: url, isUrl: true },
    { path: ['image'], text: image, isUrl: true },
    ...actions.flatMap((action, index) => [
      { path: ['actions', index, 'title'], text: action.title, isUrl: false },
      { path: ['actions', index, 'url'], text: action.url, isUrl: true },
    ]),
  ];
  return all.filter((one): one is TemplateText => one.text !== undefined);
}

/** The names of a template's placeholders, in the order of their first use. */
export function namesIn(template: Template): readonly string[] {
  const names = textsOf(template).flatMap(({ text }) =>
    Array.from(text.matchAll(placeholder), ([, name]) => name!),
  );
  return [...new Set(names)];
}

/** A text's first placeholder, as it is written. */
export function placeholderIn(text: string): string | undefined {
  return text.match(placeholder)?.[0];
}

/** Whether a text has double braces that are no placeholder, such as `{{first-name}}` or `{{name`. */
export function hasMalformed(text: string): boolean {
  return /\{\{(?! *\w{1,32} *\}\})/.test(text);
}
