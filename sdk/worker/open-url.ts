declare const self: ServiceWorkerGlobalScope;

/** Brings a tab that shows the address to the front, or opens one. */
export async function openUrl(url: string): Promise<unknown> {
  const { clients } = self;
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const showing = tabs.find((tab) => tab.url === url);
  if (showing !== undefined) return showing.focus();
  try {
    return await clients.openWindow(url);
  } catch {
    // Where windows cannot be opened, as in some installed apps, the one there is goes there.
    const tab = await tabs[0]?.focus();
    return tab?.navigate(url);
  }
}
