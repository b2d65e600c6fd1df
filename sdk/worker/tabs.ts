import type { PageEvent } from '../common/page-events.ts';
import { within } from '../common/timing.ts';
import type { ShownNotification } from './message.ts';

/** The used part of `Clients`: the browser's tabs. */
interface Tabs<Used extends keyof Tab> {
  matchAll(options: {
    type: 'window';
    includeUncontrolled?: boolean;
  }): Promise<readonly Pick<Tab, Used>[]>;
}

interface Tab {
  readonly url: string;
  readonly focused: boolean;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
  postMessage(message: PageMessage): void;
}

/** The scope tells clients of several projects on one page apart. */
export type PageMessage = PageEvent & { readonly carillon: string };

/**
 * Shows a URL: in a tab that already has it, with any fragment; otherwise in another tab of its origin;
 * otherwise in a new one.
 * @param base of a relative URL.
 */
export async function openUrl(
  clients: Tabs<'url' | 'focus' | 'navigate'> & { openWindow(url: string): Promise<unknown> },
  url: string,
  base: string,
): Promise<unknown> {
  const { href, origin } = new URL(url, base);
  const [tabs, controlled] = await Promise.all([
    clients.matchAll({ type: 'window', includeUncontrolled: true }),
    clients.matchAll({ type: 'window' }),
  ]);
  const tab =
    tabs.find((candidate) => candidate.url === href) ??
    tabs.find((candidate) => withoutFragment(candidate.url) === withoutFragment(href)) ??
    // Other tabs cannot be navigated. It would be too late to notice that after focus(): Chromium and
    // Firefox let a click focus or open one window.
    controlled.find((candidate) => new URL(candidate.url).origin === origin);
  if (tab === undefined) return clients.openWindow(href);
  await tab.focus();
  return tab.url === href || tab.navigate(href);
}

function withoutFragment(url: string): string | undefined {
  return url.split('#')[0];
}

/** Chromium shows a notification of its own if this takes too long. */
const tabsTimeoutMs = 1000;

/**
 * Gives a message to the page that the visitor looks at: also to its frames of the same origin.
 * @returns false if no window has the focus, or the notification must be shown: WebKit ends the subscription of a site
 *   that shows nothing. All browsers of iOS are WebKit, and have other names for themselves than on other systems.
 */
export async function giveToPage(
  { title, options }: ShownNotification,
  tabs: Tabs<'focused' | 'postMessage'>,
  { scope, userAgent }: { readonly scope: string; readonly userAgent: string },
): Promise<boolean> {
  if (!/Chrome\/|Firefox\//.test(userAgent)) return false;
  const windows = await within(tabsTimeoutMs, () =>
    tabs.matchAll({ type: 'window', includeUncontrolled: true }),
  );
  const focused = windows.filter((tab) => tab.focused);
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
  for (const tab of focused) tab.postMessage({ carillon: scope, name: 'message', detail });
  return focused.length > 0;
}
