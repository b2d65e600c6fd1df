declare const self: ServiceWorkerGlobalScope;

/** Focuses a tab that shows the URL, or opens one. */
export async function openUrl(url: string): Promise<unknown> {
  const { clients } = self;
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const showing = tabs.find((tab) => tab.url === url);
  if (showing !== undefined) return showing.focus();
  try {
    return await clients.openWindow(url);
  } catch {
    // Some installed apps cannot open windows: navigate the existing one.
    const tab = await tabs[0]?.focus();
    return tab?.navigate(url);
  }
}
