import { pathOf, routes } from '../../../lambdas/contract/routes.ts';
import type { CarillonClient } from '../../../sdk/client/carillon.ts';
import { showCall, watchCalls } from './calls.ts';
import { element } from './element.ts';
import { showNotification } from './notifications.ts';
import { keepSettings, readSettings, type Settings, settingsOf, showSettings } from './settings.ts';

declare const Carillon: typeof import('../../../sdk/client/carillon.ts');

const settingsForm = element<HTMLFormElement>('settings');
const sendForm = element<HTMLFormElement>('send');
const userId = element<HTMLInputElement>('user-id');
const buttons = ['subscribe', 'identify', 'unsubscribe'] as const;

let settings: Settings;
let push: CarillonClient | undefined;

async function start(): Promise<void> {
  settings = await readSettings();
  watchCalls(isOfService);
  sendInput('url').value = `${location.origin}/?opened`;
  sendInput('icon').value = `${location.origin}/bell.svg`;
  settingsForm.addEventListener('submit', (event) => {
    event.preventDefault();
    settings = settingsOf(settingsForm);
    keepSettings(settings);
    element<HTMLDetailsElement>('project').open = false;
    use();
  });
  sendForm.addEventListener('change', () => {
    sendInput('userIds').disabled = new FormData(sendForm).get('to') !== 'users';
  });
  sendForm.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt('send', send);
  });
  element('subscribe').addEventListener('click', () =>
    attempt('browser', () => push!.subscribe(userId.value ? { userId: userId.value } : {})),
  );
  element('identify').addEventListener('click', () =>
    attempt('browser', () => push!.identify(userId.value || null)),
  );
  element('unsubscribe').addEventListener('click', () =>
    attempt('browser', () => push!.unsubscribe()),
  );
  document.addEventListener('visibilitychange', () => void showBrowser());
  use();
}

function isOfService({ origin, pathname }: URL): boolean {
  return origin === new URL(settings.baseUrl).origin && pathname.startsWith('/api/');
}

/** Takes the settings into use, or asks for what they lack. */
function use(): void {
  showSettings(settingsForm, settings);
  element('project-name').textContent = settings.projectId;
  const { baseUrl, projectId, applicationServerKey } = settings;
  try {
    push = Carillon.init({ baseUrl, projectId, applicationServerKey });
    showProblem('browser', undefined);
  } catch (error) {
    push = undefined;
    element<HTMLDetailsElement>('project').open = true;
    if (projectId !== '') showProblem('browser', error);
  }
  void showBrowser();
}

const states = {
  unknown: ['No project yet', 'Fill in the project first: its API key card says everything.'],
  unsupported: [
    'Not supported',
    'This browser has no push here. On iOS, add the page to the home screen first; elsewhere, use https or localhost.',
  ],
  denied: ['Blocked', 'Notifications are blocked for this site, in the settings of the browser.'],
  default: ['Not subscribed', 'Subscribe it, then send something below.'],
  granted: ['Not subscribed', 'Subscribe it, then send something below.'],
  subscribed: ['Subscribed', 'This browser receives what the project sends.'],
} as const;

async function showBrowser(): Promise<void> {
  const subscription = (await push?.subscription()) ?? null;
  const permission = (await push?.permission()) ?? 'unknown';
  const state = subscription === null ? permission : 'subscribed';
  const [status, lead] = states[state];
  element('status').dataset.state = state;
  element('status').textContent = status;
  element('browser-lead').textContent = lead;
  for (const id of buttons) {
    const button = element<HTMLButtonElement>(id);
    button.hidden = (id === 'subscribe') === (subscription !== null);
    button.disabled = !push?.supported;
  }
  element('subscription').hidden = subscription === null;
  const { endpoint = '', keys = {} } = subscription?.toJSON() ?? {};
  for (const [id, text = ''] of Object.entries({ endpoint, ...keys })) {
    element(id).textContent = text;
    element(id).title = text;
  }
}

async function send(): Promise<void> {
  const { baseUrl, projectId, secretApiKey } = settings;
  const content = notification();
  const url = baseUrl + pathOf(routes.send, { projectId });
  const init = {
    method: routes.send.method,
    headers: {
      authorization: `Bearer ${secretApiKey || '<SECRET_API_KEY>'}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(content),
  };
  if (new URL(baseUrl).origin !== location.origin) {
    const why =
      'Sending is for servers, so a browser may not do it from another site: run the line above.';
    return showCall(url, init, why);
  }
  if (secretApiKey === '') {
    element<HTMLDetailsElement>('project').open = true;
    throw new Error("Sending needs the project's secret key; paste it under Project.");
  }
  const response = await fetch(url, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? `The answer was ${response.status}.`);
  showNotification(projectId, String(content.title), answer);
}

/** The body of the send: what is filled in of the form. */
function notification(): Record<string, unknown> {
  const data = new FormData(sendForm);
  const members = ['title', 'body', 'url', 'icon', 'image', 'badge'].flatMap((name) => {
    const value = String(data.get(name) ?? '').trim();
    return value === '' ? [] : [[name, value] as const];
  });
  if (data.get('to') !== 'users') return Object.fromEntries(members);
  const userIds = String(data.get('userIds'))
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  return { ...Object.fromEntries(members), userIds };
}

function sendInput(name: string): HTMLInputElement {
  return sendForm.elements.namedItem(name) as HTMLInputElement;
}

/** Does what a button asks for, shows what went wrong, and lets no button be pressed meanwhile. */
async function attempt(where: 'browser' | 'send', work: () => Promise<unknown>): Promise<void> {
  const pressed = where === 'send' ? ['send-button'] : buttons;
  for (const id of pressed) element<HTMLButtonElement>(id).disabled = true;
  try {
    await work();
    showProblem(where, undefined);
  } catch (error) {
    showProblem(where, error);
  }
  element<HTMLButtonElement>('send-button').disabled = false;
  await showBrowser();
}

function showProblem(where: 'browser' | 'send', error: unknown): void {
  const problem = element(`${where}-problem`);
  problem.hidden = error === undefined;
  const { message, code } = (error ?? {}) as { message?: string; code?: string };
  problem.textContent = [message, code && `(${code})`].filter(Boolean).join(' ');
  if (code) problem.dataset.code = code;
}

void start();
