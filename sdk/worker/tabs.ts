import { ask } from '../common/ask.ts';
import type { ClickedEvent, PageAnswer, PageQuestion } from '../common/page-events.ts';
import { timing, within } from '../common/timing.ts';
import type { ShownNotification } from './message.ts';

/** The used part of `Clients`: the pages of the browser's tabs, and of the frames in them. */
interface Pages<Used extends keyof Page> {
  matchAll(options: {
    type: 'window';
    includeUncontrolled?: boolean;
  }): Promise<readonly Pick<Page, Used>[]>;
}

interface Page {
  /** At which it was loaded: a single-page application may show another one. */
  readonly url: string;
  readonly frameType: string;
  readonly focused: boolean;
  readonly visibilityState: string;
  focus(): Promise<unknown>;
  /** Resolves to the page that has taken its place, or to null if that is of another site. */
  navigate(url: string): Promise<Pick<Page, 'focus'> | null>;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}

/** A page that has the SDK answers much sooner. Firefox lets a click open something for a second. */
const answerTimeoutMs = 300;
/** Then the tab gets the focus, and goes on loading. */
const navigationTimeoutMs = 400;

/** All pages of the site, also those that were loaded before this worker. */
const allPages = { type: 'window', includeUncontrolled: true } as const;

/**
 * Shows what a click opens: in a tab that was loaded at this URL, with any fragment, otherwise in another tab of the
 * scope, preferably one that people see. The tab may take the click itself. If any of this fails, a new tab opens.
 * @param url absolute.
 * @param click for the listeners of pages. Undefined: of another sender's notification.
 */
export async function showUrl(
  clients: Pages<keyof Page> & { openWindow(url: string): Promise<unknown> },
  url: string,
  scope: string,
  click?: ClickedEvent,
): Promise<void> {
  const question: PageQuestion = {
    carillon: scope,
    ...(click ? { name: 'clicked', detail: click } : { name: 'place', detail: {} }),
  };

  async function showInTab(): Promise<void> {
    const pages = await clients.matchAll(allPages);
    const rank = (page: Page) =>
      4 * Number(withoutFragment(page.url) === withoutFragment(url)) +
      2 * Number(page.focused) +
      Number(page.visibilityState === 'visible');
    const [tab] = pages
      .filter((page) => page.frameType !== 'nested' && isPossible(page))
      .sort((one, other) => rank(other) - rank(one));
    for (const page of pages) {
      try {
        if (page !== tab) page.postMessage(question);
      } catch {}
    }
    if (!tab) throw new Error('no tab');
    const answer = await ask<PageAnswer>(answerTimeoutMs, tab, question);
    const isThere = answer?.isTaken || answer?.url === url;
    const navigated = isThere
      ? tab
      : await Promise.race([tab.navigate(url), timing.wait(navigationTimeoutMs)]);
    await ((navigated as Page | undefined) ?? tab).focus();
  }

  /** Another tab than that of the URL may leave its page only for another page of its site. */
  function isPossible({ url: place }: Page): boolean {
    return (
      withoutFragment(place) === withoutFragment(url) ||
      (place.startsWith(scope) && new URL(place).origin === new URL(url).origin)
    );
  }

  await showInTab().catch(() => clients.openWindow(url));
}

function withoutFragment(url: string): string | undefined {
  return url.split('#')[0];
}

/** Chromium shows a notification of its own if this takes too long. */
const pagesTimeoutMs = 1000;

/**
 * Gives a message to the page that the visitor looks at: also to its frames of the same origin.
 * @returns false unless one of them says that a listener has it, or if the notification must be shown: WebKit ends the
 *   subscription of a site that shows nothing. All browsers of iOS are WebKit, and have other names for themselves than
 *   on other systems.
 */
export async function giveToPage(
  { title, options }: ShownNotification,
  clients: Pages<'focused' | 'postMessage'>,
  { scope, userAgent }: { readonly scope: string; readonly userAgent: string },
): Promise<boolean> {
  if (!/Chrome\/|Firefox\//.test(userAgent)) return false;
  const pages = await within(pagesTimeoutMs, () => clients.matchAll(allPages));
  const { data, actions, ...shown } = options;
  const { id = '', url, urls } = data;
  const detail = {
    ...shown,
    title,
    id,
    url,
    data: data.data,
    actions: actions.map((button) => ({ ...button, url: urls?.[button.action] ?? url })),
  };
  const question: PageQuestion = { carillon: scope, name: 'message', detail };
  const answers = await Promise.all(
    pages
      .filter(({ focused }) => focused)
      .map((page) => ask<PageAnswer>(answerTimeoutMs, page, question)),
  );
  return answers.some((answer) => answer?.isTaken);
}
