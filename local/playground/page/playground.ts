import { pathOf, routes } from '../../../contract/routes.ts';
import type { CarillonClient } from '../../../sdk/client/carillon.ts';
import { readRegistration } from '../../../sdk/common/storage.ts';
import { withLock } from '../../../sdk/common/with-lock.ts';
import { showCall, watchCalls } from './calls.ts';
import { element } from './element.ts';
import { showNotification } from './notifications.ts';
import {
  readSettings,
  type Settings,
  settingsOf,
  showSettings,
  storeSettings,
} from './settings.ts';

declare const Carillon: typeof import('../../../sdk/client/carillon.ts');

const settingsForm = element<HTMLFormElement>('settings');
const sendForm = element<HTMLFormElement>('send');
const userId = element<HTMLInputElement>('user-id');
const buttons = ['subscribe', 'identify', 'unsubscribe'] as const;

let settings: Settings;
let push: CarillonClient | undefined;
/** What the current click waits for. */
let waitingFor: keyof typeof waitTexts | undefined;

async function start(): Promise<void> {
  settings = await readSettings();
  userId.value ||= (await readRegistration(`${location.origin}/`))?.userId ?? '';
  watchCalls(isServiceUrl, ({ pathname }) => {
    const isSend = pathname === pathOf(routes.send, { projectId: settings.projectId });
    if (waitingFor !== undefined && !isSend) showWaiting('service');
  });
  sendInput('url').value = `${location.origin}/?opened`;
  sendInput('icon').value = `${location.origin}/bell.svg`;
  settingsForm.addEventListener('submit', (event) => {
    event.preventDefault();
    settings = settingsOf(settingsForm);
    storeSettings(settings);
    element<HTMLDetailsElement>('project').open = false;
    applySettings();
  });
  sendForm.addEventListener('change', () => {
    sendInput('userIds').disabled = new FormData(sendForm).get('to') !== 'users';
  });
  sendForm.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt('send', send);
  });
  element('subscribe').addEventListener('click', () => {
    showWaiting(Notification.permission === 'default' ? 'permission' : 'pushService');
    attempt('browser', () => push!.subscribe(userId.value ? { userId: userId.value } : {}));
  });
  element('identify').addEventListener('click', () => {
    showWaiting('service');
    attempt('browser', () => push!.identify(userId.value || null));
  });
  element('unsubscribe').addEventListener('click', () => {
    showWaiting('service');
    attempt('browser', () => push!.unsubscribe());
  });
  document.addEventListener('visibilitychange', () => void showBrowser());
  applySettings();
  element<HTMLButtonElement>('send-button').disabled = false;
  const permission = await navigator.permissions.query({ name: 'notifications' });
  permission.addEventListener('change', () => {
    if (waitingFor === 'permission') showWaiting('pushService');
  });
}

function isServiceUrl({ origin, pathname }: URL): boolean {
  return origin === new URL(settings.baseUrl).origin && pathname.startsWith('/api/');
}

/** Initializes the SDK with the settings. Opens their form if one is invalid. */
function applySettings(): void {
  showSettings(settingsForm, settings);
  element('project-name').textContent = settings.projectId;
  const { baseUrl, projectId, applicationServerKey } = settings;
  try {
    push = Carillon.init({ baseUrl, projectId, applicationServerKey });
    showProblem('project', undefined);
    showProblem('browser', undefined);
  } catch (error) {
    push = undefined;
    element<HTMLDetailsElement>('project').open = true;
    if (projectId !== '') showProblem('project', error);
  }
  void showBrowser();
  // And again after init() has registered the browser: the SDK's lock runs its tasks in order.
  void withLock(showBrowser);
}

const states = {
  unknown: ['No project yet', 'Fill in the project first, from its API key card.'],
  unsupported: [
    'Not supported',
    'This browser does not support push on this page. On iOS, add the page to the home screen first; elsewhere, use https or localhost.',
  ],
  denied: ['Blocked', 'Notifications of this site are blocked in the settings of the browser.'],
  default: ['Not subscribed', 'Subscribe this browser, then send a notification.'],
  granted: ['Not subscribed', 'Subscribe this browser, then send a notification.'],
  subscribed: ['Subscribed', 'This browser receives what the project sends.'],
} as const;

const waitTexts = {
  permission: 'Waiting for your decision: allow or block notifications.',
  pushService: 'Waiting for the browser’s push service, 30 s at most.',
  service: 'Waiting for the service, 15 s at most.',
} as const;

function showWaiting(next: keyof typeof waitTexts): void {
  waitingFor = next;
  element('browser-lead').textContent = waitTexts[next];
  element('browser-lead').toggleAttribute('data-waiting', true);
}

async function showBrowser(): Promise<void> {
  const subscription = (await push?.subscription()) ?? null;
  const permission = (await push?.permission()) ?? 'unknown';
  const state = subscription === null ? permission : 'subscribed';
  // The current click calls this again when it ends.
  if (waitingFor !== undefined) return;
  const [status, lead] = states[state];
  element('status').dataset.state = state;
  element('status').textContent = status;
  element('browser-lead').textContent = lead;
  element('browser-lead').removeAttribute('data-waiting');
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
    const reason =
      'Only servers may send, so a page of another site cannot: run the command above.';
    return showCall(url, init, reason);
  }
  if (secretApiKey === '') {
    element<HTMLDetailsElement>('project').open = true;
    throw new Error("Sending requires the project's secret key; paste it under Project.");
  }
  const response = await fetch(url, init);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `The response was ${response.status}.`);
  showNotification(projectId, String(content.title), body);
}

/** The body of the send request: the fields that are not empty. */
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

/** Does the work of a button, disables the card's buttons meanwhile, and shows an error. */
async function attempt(card: 'browser' | 'send', work: () => Promise<unknown>): Promise<void> {
  const disabled = card === 'send' ? ['send-button'] : buttons;
  for (const id of disabled) element<HTMLButtonElement>(id).disabled = true;
  try {
    await work();
    showProblem(card, undefined);
  } catch (error) {
    showProblem(card, error);
  }
  if (card === 'browser') waitingFor = undefined;
  else element<HTMLButtonElement>('send-button').disabled = false;
  await showBrowser();
}

function showProblem(card: 'browser' | 'send' | 'project', error: unknown): void {
  const problem = element(`${card}-problem`);
  problem.hidden = error === undefined;
  const { message, code } = (error ?? {}) as { message?: string; code?: string };
  problem.textContent = [message, code && `(${code})`].filter(Boolean).join(' ');
  if (code) problem.dataset.code = code;
}

void start();
