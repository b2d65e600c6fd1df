import { type CarillonOptions, init } from 'carillon';
import { type BellOptions, showBell, showPrompt } from 'carillon/bell';

/** What the plugin writes into the element of this script. */
interface Settings {
  readonly init: CarillonOptions & { readonly scope: string };
  readonly bell: 'corner' | 'shortcode' | 'none';
  readonly prompt: boolean;
  readonly channels: Readonly<Record<string, string>>;
  readonly texts: BellOptions['texts'];
  /** Empty: the site has no such page. */
  readonly privacyUrl: string;
}

const element = document.querySelector<HTMLScriptElement>('script[data-carillon]')!;
const settings: Settings = JSON.parse(element.dataset.carillon!);
const { bell, prompt, channels, texts, privacyUrl } = settings;
const push = init({ ...settings.init, channels: Object.keys(channels) });

if (bell === 'corner') showBell(push, { channels, texts, privacyUrl });
if (bell === 'shortcode') {
  for (const parent of document.querySelectorAll('.carillon-bell')) {
    showBell(push, { channels, texts, privacyUrl, parent });
  }
}
if (prompt) showPrompt(push, { texts, privacyUrl, delaySeconds: 20 });
if (settings.init.replaceWorker) takeOver(settings.init.scope);

/** Subscribes a visitor who has allowed notifications of another plugin, unless they have turned these off. */
async function takeOver(scope: string): Promise<void> {
  await push.ready;
  const { permission, subscribed } = await push.state();
  if (permission !== 'granted') return;
  if (!subscribed) await push.subscribe({ renewal: true });
  // Otherwise both could show what is sent to the imported list.
  for (const registration of await navigator.serviceWorker.getRegistrations()) {
    const url = registration.active?.scriptURL ?? '';
    const isOther = new URL(scope, location.href).href !== registration.scope;
    if (isOther && /OneSignalSDK|perfecty-push/.test(url)) await registration.unregister();
  }
}
