import type { CarillonClient, PushState } from '../client/client-types.ts';
import type { CarillonError } from '../common/error.ts';
import { attach, create, createIcon } from './elements.ts';
import { type BellTexts, english, helpOf } from './texts.ts';

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

/**
 * Of the bell and its panel. The floating panel is above the bell, another one below it. Borders draw the switch,
 * because forced colours leave them.
 */
const panelStyle = `
:host{position:relative!important;width:max-content!important}
:host(.floating){display:flex!important;flex-direction:column-reverse!important;align-items:end!important}
#panel{width:max-content;max-width:min(20em,100vw - 2em);padding:.5em 1em;border:1px solid;border-radius:.5em;background:var(--background)}
:host(.floating) #panel{margin-block-end:.5em;max-height:calc(100vh - 6em);overflow:auto}
:host(:not(.floating)) #panel{position:absolute;inset-block-start:calc(100% + .5em);inset-inline-start:0;z-index:2147483647}
#panel:focus-visible{outline-width:1px;box-shadow:none}
header,label{display:flex;align-items:center;gap:.5em}
header{justify-content:space-between}
header label{flex-wrap:wrap}
header button{border-color:transparent;margin-inline-end:-.5em}
label{min-width:0;min-height:44px;cursor:pointer;overflow-wrap:break-word}
fieldset{margin:0;padding:.25em 0 0;border:0;border-block-start:1px solid}
fieldset:disabled label{cursor:default;opacity:.65}
legend{float:inline-start;width:100%;padding:.5em 0 0;font-weight:600}
legend+label{clear:both}
input{flex:none;margin:0;width:1.5em;height:1.5em;color:inherit;accent-color:currentColor;font:inherit}
[role=switch]{appearance:none;width:3em;height:1.75em;border:2px solid;border-radius:1em;display:flex;align-items:center;padding:.125em;cursor:pointer}
[role=switch]::before{content:"";border:.6em solid;border-radius:50%}
[role=switch]:checked{justify-content:end;background:currentColor}
[role=switch]:checked::before{border-color:var(--background)}
#status:not(:empty){padding-block:.5em}
svg{display:block;margin:auto;width:1.5em;fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.on svg{fill:currentColor}
`;

/**
 * The channels of a visitor who has switched notifications off, for the day when they are switched on again:
 * `unsubscribe()` forgets them.
 */
const storageKey = 'carillon-channels';

function keepChannels(channels: readonly string[]): void {
  attempt(() => localStorage.setItem(storageKey, JSON.stringify(channels)));
}

/** Undefined if nobody has switched off. */
function keptChannels(): readonly string[] | undefined {
  return attempt(() => JSON.parse(localStorage.getItem(storageKey)!)) ?? undefined;
}

function forgetChannels(): void {
  attempt(() => localStorage.removeItem(storageKey));
}

/** A browser may deny storage, or have no room. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
