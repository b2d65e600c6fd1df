import { type CarillonOptions, init } from 'carillon';
import { check } from 'carillon/check';

/** What the plugin gives to its settings page. */
declare const carillonSettings: {
  readonly action: string;
  readonly nonce: string;
  readonly init: (CarillonOptions & { readonly scope: string }) | null;
  readonly texts: Readonly<Record<'otherWorker' | 'shown' | 'notShown', string>>;
};

type Finding = readonly [level: 'ok' | 'advice' | 'problem', text: string];

const { action, nonce, texts } = carillonSettings;
const list = document.getElementById('carillon-findings')!;
const button = document.querySelector<HTMLButtonElement>('#carillon-try')!;

const classes = { ok: 'success', advice: 'warning', problem: 'error' };

function show(findings: readonly Finding[]): void {
  for (const [level, text] of findings) {
    const notice = document.createElement('div');
    notice.className = `notice notice-${classes[level]} inline`;
    notice.append(document.createElement('p'));
    notice.firstElementChild!.textContent = text;
    list.append(notice);
  }
}

/** Asks the plugin. @param user to send a notification to. */
async function ask(user = '') {
  const body = new URLSearchParams({ action: 'carillon_try', _ajax_nonce: nonce, user });
  const response = await fetch(action, { method: 'POST', body });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return (await response.json()) as {
    readonly findings: readonly Finding[];
    readonly init?: CarillonOptions | null;
  };
}

/** Subscribes this browser, and waits for a notification in it. */
async function tryOut(options: CarillonOptions): Promise<readonly Finding[]> {
  const push = init(options);
  const user = `wordpress-${crypto.randomUUID()}`;
  // Browsers ask for permission only soon after a click.
  await push.subscribe({ userId: user });
  const shown = new Promise<boolean>((resolve) => {
    push.on('shown', () => resolve(true));
    setTimeout(resolve, shownTimeoutMs, false);
  });
  const { findings } = await ask(user);
  await push.identify(null);
  if (findings.length > 0) return findings;
  if (await shown) return [['ok', texts.shown]];
  const results = await check(options);
  const problems = results.filter(({ level }) => level !== 'ok');
  return [
    ['problem', texts.notShown],
    ...problems.map(({ level, message }): Finding => [level, message]),
  ];
}

const shownTimeoutMs = 20_000;

button.onclick = async () => {
  button.disabled = true;
  list.replaceChildren();
  try {
    const { findings, init: options } = await ask();
    show(findings);
    if (options && !findings.some(([level]) => level === 'problem')) show(await tryOut(options));
  } catch (error) {
    show([['problem', (error as Error).message]]);
  }
  button.disabled = false;
};

/** Names the service worker of another plugin or app, which would get the notifications. */
async function findOtherWorker({ serviceWorker, scope, replaceWorker }: Options): Promise<void> {
  const url = new URL(String(serviceWorker), location.href).href;
  const registration = await navigator.serviceWorker.getRegistration(scope);
  const other = registration?.active?.scriptURL ?? url;
  if (other === url || replaceWorker || registration?.scope !== new URL(scope, url).href) return;
  const line = `importScripts('${url}');`;
  show([['problem', texts.otherWorker.replace('{file}', other).replace('{line}', line)]]);
}

type Options = CarillonOptions & { readonly scope: string };

if (carillonSettings.init && navigator.serviceWorker) findOtherWorker(carillonSettings.init);
