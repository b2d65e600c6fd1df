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
export function showBell(push: CarillonClient, { parent, texts = {} }: BellOptions = {}) {
  const all = { ...english, ...texts };
  const button = create('button', { type: 'button', 'aria-label': all.label });
  const icon = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.append(path);
  button.append(icon);
  const status = create('p', { role: 'status' });
  const host = attach(parent, button, status);
  host.hidden = true;
  let state: PushState;

  function show(newState: PushState): void {
    state = newState;
    host.hidden = !state.supported && helpOf(state, all, self) === '';
    button.setAttribute('aria-pressed', String(state.subscribed));
    path.setAttribute('d', state.subscribed ? bell : bell + slash);
  }

  button.onclick = async () => {
    const help = helpOf(state, all, self);
    // Closes an open text.
    if (status.textContent || help) {
      status.textContent = status.textContent ? '' : help;
      return;
    }
    try {
      // Nothing is awaited before: browsers show the prompt only within a click.
      await (state.subscribed ? push.unsubscribe() : push.subscribe());
    } catch (error) {
      show(await push.state());
      const isDismissed = (error as CarillonError).code === 'permission_dismissed';
      status.textContent = helpOf(state, all, self) || (isDismissed ? '' : all.failed);
    }
  };
  host.onkeydown = ({ key }) => {
    if (key === 'Escape') status.textContent = '';
  };
  push.state().then(show);
  const removeListener = push.on('change', show);
  return () => {
    removeListener();
    host.remove();
  };
}
