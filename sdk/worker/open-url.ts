/** The used part of `Clients`: the browser's tabs. */
interface Tabs {
  matchAll(options: { type: 'window'; includeUncontrolled?: boolean }): Promise<readonly Tab[]>;
  openWindow(url: string): Promise<unknown>;
}

interface Tab {
  readonly url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}

/**
 * Shows a URL: in a tab that already has it, with any fragment; otherwise in another tab of its origin;
 * otherwise in a new one.
 * @param base of a relative URL.
 */
export async function openUrl(clients: Tabs, url: string, base: string): Promise<unknown> {
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
  return url.split('#', 1)[0];
}
