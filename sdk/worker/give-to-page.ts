import type { PageEvent } from '../common/page-events.ts';
import type { ShownNotification } from './message.ts';

/** The used part of `Clients`: the browser's tabs. */
interface Tabs {
  matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<readonly Tab[]>;
}

interface Tab {
  readonly focused: boolean;
  postMessage(message: PageMessage): void;
}

/** The scope tells clients of several projects on one page apart. */
export type PageMessage = PageEvent & { readonly carillon: string };

/**
 * Gives a message to the page that the visitor looks at: also to its frames of the same origin.
 * @returns false if no window has the focus, or the notification must be shown: WebKit ends the subscription of a site
 *   that shows nothing. All browsers of iOS are WebKit, and have other names for themselves than on other systems.
 */
export async function giveToPage(
  { title, options }: ShownNotification,
  tabs: Tabs,
  { scope, userAgent }: { readonly scope: string; readonly userAgent: string },
): Promise<boolean> {
  if (!/Chrome\/|Firefox\//.test(userAgent)) return false;
  const windows = await tabs.matchAll({ type: 'window', includeUncontrolled: true });
  const focused = windows.filter((tab) => tab.focused);
  const { data, actions, ...shown } = options;
  const { id = '', url, urls } = data;
  const detail = {
    ...{ ...shown, title, id, url, data: data.data },
    actions: actions.map((button) => ({ ...button, url: urls?.[button.action] ?? url })),
  };
  for (const tab of focused) tab.postMessage({ carillon: scope, name: 'message', detail });
  return focused.length > 0;
}
