import type { CarillonClient, PushState } from '../client/client-types.ts';
import type { CarillonError } from '../common/error.ts';
import { attach, create } from './elements.ts';
import { helpOf } from './help.ts';
import { createIcon } from './icon.ts';
import { forgetChannels, keepChannels, keptChannels } from './kept-channels.ts';
import { panelStyle } from './panel-style.ts';
import { type BellTexts, english } from './texts.ts';

export interface BellOptions {
  /** Where to put it. Default: it floats in the corner at the end of the page. */
  readonly parent?: Element;
  /** Replaces texts, such as with translations. */
  readonly texts?: Partial<BellTexts>;
  /** Channels that visitors can choose once they are subscribed: their labels by their names. */
  readonly channels?: Readonly<Record<string, string>>;
}

const bell = 'M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4';
const slash = 'M3 3l18 18';
const cross = 'M6 6l12 12M18 6L6 18';

/**
 * Adds a button that opens a panel: a switch that subscribes and unsubscribes the browser, and the channels. The panel
 * tells visitors what to do if they have blocked notifications, or if the site must first be on the home screen. Where
 * the browser has no push, the button is hidden.
 * @returns a function that removes it.
 */
export function showBell(
  push: CarillonClient,
  { parent, texts = {}, channels = {} }: BellOptions = {},
) {
  const all = { ...english, ...texts };
  const { icon, draw } = createIcon(bell);
  const button = create('button', { type: 'button', 'aria-controls': 'panel' }, icon);
  const toggle = create('input', { type: 'checkbox', role: 'switch' });
  const close = create('button', { type: 'button', 'aria-label': all.close });
  close.append(createIcon(cross).icon);
  const boxes = Object.keys(channels).map((value) => create('input', { type: 'checkbox', value }));
  const choice = create(
    'fieldset',
    {},
    create('legend', {}, all.channels),
    ...boxes.map((box) => create('label', {}, box, channels[box.value]!)),
  );
  choice.hidden = boxes.length === 0;
  const status = create('p', { role: 'status', id: 'status' });
  const panel = create(
    'div',
    {
      id: 'panel',
      role: 'dialog',
      tabindex: '-1',
      'aria-label': all.label,
      'aria-describedby': 'status',
    },
    create('header', {}, create('label', {}, toggle, all.label), close),
    choice,
    status,
  );
  const host = attach(panelStyle, parent, button, panel);
  host.hidden = true;
  let state: PushState;
  let help = '';
  /** Attempts that have not ended. Until then the inputs show what the visitor wants. */
  let pending = 0;
  /** Ends the listeners of the open panel. */
  let opened: AbortController | undefined;

  const isOn = () => state.subscribed && state.permission === 'granted';
  const stateText = () => `${all.label}: ${isOn() ? all.on : all.off}`;

  function show(newState: PushState): void {
    state = newState;
    const newHelp = helpOf(state, all, self);
    if (newHelp !== help) status.textContent = newHelp;
    help = newHelp;
    host.hidden = !state.supported && help === '';
    const on = isOn();
    button.setAttribute('aria-label', stateText());
    draw(on ? bell : bell + slash);
    button.classList.toggle('on', on);
    if (pending > 0) return;
    toggle.checked = on;
    choice.disabled = !on;
    const chosen = (on ? undefined : keptChannels()) ?? state.channels;
    for (const box of boxes) box.checked = chosen.includes(box.value);
  }

  /** Says what it has led to: the text, if the state is the wanted one. */
  async function attempt(
    work: () => Promise<unknown>,
    textOf: (failure: CarillonError | undefined) => string,
  ): Promise<void> {
    status.textContent = '';
    pending++;
    let failure: CarillonError | undefined;
    try {
      // Nothing is awaited before: browsers show the prompt only within a click.
      await work();
    } catch (error) {
      failure = error as CarillonError;
    }
    pending--;
    show(await push.state());
    status.textContent = help || textOf(failure);
  }

  function closePanel(): void {
    opened?.abort();
    panel.hidden = true;
    button.setAttribute('aria-expanded', 'false');
  }

  function closeAndReturn(): void {
    closePanel();
    button.focus();
  }

  function openPanel(): void {
    opened = new AbortController();
    const { signal } = opened;
    status.textContent = help;
    panel.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    panel.style.translate = '';
    const { left, right } = panel.getBoundingClientRect();
    // Beside the edge of a narrow page, it would be cut off.
    panel.style.translate = `${Math.max(8 - left, Math.min(0, innerWidth - 8 - right))}px`;
    panel.focus();
    addEventListener('keydown', ({ key }) => key === 'Escape' && closeAndReturn(), { signal });
    // By now, what was pressed outside has the focus if it can have it, and the panel is closed.
    const closeFromOutside = (event: Event) =>
      event.composedPath().includes(host) || closeAndReturn();
    addEventListener('pointerup', closeFromOutside, { signal });
    // Also a permission that was changed without an event.
    push.state().then(show);
  }

  toggle.onchange = () => {
    const wanted = toggle.checked;
    const kept = keptChannels();
    if (!wanted) keepChannels(state.channels);
    attempt(
      () =>
        wanted
          ? push.subscribe(kept && { channels: kept }).then(forgetChannels)
          : push.unsubscribe(),
      (failure) => {
        // An unsubscribed browser stays unsubscribed, even if the service did not respond.
        if (isOn() === wanted) return stateText();
        return failure?.code === 'permission_dismissed' ? '' : all.failed;
      },
    );
  };
  choice.onchange = () => {
    // Also the channels that have no box.
    const others = state.channels.filter((name) => !(name in channels));
    const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    attempt(
      () => push.setChannels([...others, ...chosen]),
      (failure) => (failure ? all.failed : all.saved),
    );
  };
  button.onclick = () => (panel.hidden ? openPanel() : closeAndReturn());
  close.onclick = closeAndReturn;
  // Without a target, the window or the browser's prompt has taken the focus.
  host.addEventListener('focusout', ({ relatedTarget }) => relatedTarget && closePanel());
  closePanel();
  push.state().then(show);
  const removeListener = push.on('change', show);
  return () => {
    removeListener();
    closePanel();
    host.remove();
  };
}
