import type { CarillonClient, PushState } from '../client/client-types.ts';
import type { CarillonError } from '../common/error.ts';
import { attach, create } from './elements.ts';
import { helpOf } from './help.ts';
import { type BellTexts, english } from './texts.ts';

export interface BellOptions {
  /** Where to put it. Default: it floats in the corner at the end of the page. */
  readonly parent?: Element;
  /** Replaces texts, such as with translations. */
  readonly texts?: Partial<BellTexts>;
  /** Channels that visitors can choose once they are subscribed: their labels by their names. */
  readonly channels?: Readonly<Record<string, string>>;
}

const svg = 'http://www.w3.org/2000/svg';
const bell = 'M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4';
const slash = 'M3 3l18 18';

/**
 * Adds a button that subscribes and unsubscribes the browser. It tells visitors what to do if they have
 * blocked notifications, or if the site must first be on the home screen. Where the browser has no push,
 * it is hidden.
 * @returns a function that removes it.
 */
export function showBell(
  push: CarillonClient,
  { parent, texts = {}, channels = {} }: BellOptions = {},
) {
  const all = { ...english, ...texts };
  const button = create('button', { type: 'button', 'aria-label': all.label });
  const icon = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.append(path);
  button.append(icon);
  const status = create('p', { role: 'status' });
  const choice = create('details');
  choice.append(create('summary', {}, all.channels));
  const boxes = Object.entries(channels).map(([value, label]) => {
    const box = create('input', { type: 'checkbox', value });
    const line = create('label');
    line.append(box, label);
    choice.append(line);
    return box;
  });
  const host = attach(parent, button, choice, status);
  host.hidden = true;
  let state: PushState;

  function show(newState: PushState): void {
    state = newState;
    host.hidden = !state.supported && helpOf(state, all, self) === '';
    button.setAttribute('aria-pressed', String(state.subscribed));
    path.setAttribute('d', state.subscribed ? bell : bell + slash);
    choice.hidden = !state.subscribed || boxes.length === 0;
    for (const box of boxes) box.checked = state.channels.includes(box.value);
  }

  /** Shows what happened if it fails. */
  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      // Nothing is awaited before: browsers show the prompt only within a click.
      await work();
    } catch (error) {
      show(await push.state());
      const isDismissed = (error as CarillonError).code === 'permission_dismissed';
      status.textContent = helpOf(state, all, self) || (isDismissed ? '' : all.failed);
    }
  }

  choice.onchange = () => {
    status.textContent = '';
    // Also the channels that have no box.
    const others = state.channels.filter((name) => !(name in channels));
    const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    attempt(() => push.setChannels([...others, ...chosen]));
  };
  button.onclick = async () => {
    const help = helpOf(state, all, self);
    // Closes an open text.
    if (status.textContent || help) {
      status.textContent = status.textContent ? '' : help;
      return;
    }
    await attempt(() => (state.subscribed ? push.unsubscribe() : push.subscribe()));
  };
  host.onkeydown = ({ key }) => {
    if (key !== 'Escape') return;
    status.textContent = '';
    choice.open = false;
  };
  push.state().then(show);
  const removeListener = push.on('change', show);
  return () => {
    removeListener();
    host.remove();
  };
}
