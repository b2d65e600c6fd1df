import type { CarillonClient, PushState } from '../client/client-types.ts';
import type { CarillonError } from '../common/error.ts';
import { attach, attempt, create, createIcon, keepAttached } from './elements.ts';
import { type BellTexts, english, failureText, helpOf, type TextsOf, withTexts } from './texts.ts';

export interface BellOptions {
  /** Where to put it. Default: it floats in the corner at the end of the page. */
  readonly parent?: Element | null | undefined;
  /** Replaces texts, such as with translations. */
  readonly texts?: TextsOf<BellTexts> | undefined;
  /** Channels that visitors can choose once they are subscribed: their labels by their names. */
  readonly channels?: Readonly<Record<string, string>> | undefined;
  /** The site's page about privacy, which is then linked. */
  readonly privacyUrl?: string | undefined;
}

const bell = 'M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4';
const slash = 'M3 3l18 18';

/**
 * Adds a button that opens a panel: a switch that subscribes and unsubscribes the browser, and the channels. The panel
 * tells visitors what to do if they have blocked notifications, or if the site must first be on the home screen. Where
 * the browser has no push, the button is hidden.
 * @returns a function that removes it.
 */
export function showBell(push: CarillonClient, options: BellOptions = {}): () => void {
  return attempt(() => addBell(push, options)) ?? (() => {});
}

function addBell(
  push: CarillonClient,
  { parent, texts = {}, channels = {}, privacyUrl }: BellOptions,
) {
  const all = withTexts(english, texts);
  const { icon, draw } = createIcon(bell);
  const button = create('button', { type: 'button', 'aria-controls': 'panel' }, icon);
  const toggle = create('input', { type: 'checkbox', role: 'switch', id: 'switch' });
  const boxes = Object.keys(channels).map((value) => create('input', { type: 'checkbox', value }));
  const choice = create(
    'div',
    { role: 'group', 'aria-labelledby': 'what' },
    create('p', { id: 'what' }, all.channels),
    ...boxes.map((box) => create('label', {}, box, channels[box.value]!)),
  );
  const hint = create('p', {}, all.turnOn);
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
    create(
      'header',
      {},
      create('label', { for: 'switch' }, all.label),
      toggle,
      status,
      ...linkTo(privacyUrl, all),
    ),
    ...(boxes[0] ? [choice, hint] : []),
  );
  const host = attach(panelStyle, parent, button, panel);
  host.hidden = true;
  let state: PushState;
  /** The state in words, or what to do about it. */
  let summary = '';
  /** Attempts that have not ended. Until then the inputs show what the visitor wants. */
  let pending = 0;
  /** Ends the listeners of the open panel. */
  let opened: AbortController | undefined;

  const isOn = () => state.subscribed && state.permission === 'granted';

  function show(newState: PushState): void {
    state = newState;
    const on = isOn();
    const help = helpOf(state, all, window);
    const newSummary = help || (on ? all.onHere : all.offHere);
    if (newSummary !== summary) status.textContent = newSummary;
    summary = newSummary;
    host.hidden = !state.supported && !help;
    button.setAttribute('aria-label', `${all.label}: ${on ? all.on : all.off}`);
    draw(on ? bell : bell + slash);
    button.classList.toggle('on', on);
    toggle.disabled = Boolean(help);
    if (pending) return;
    toggle.checked = on;
    choice.hidden = !on;
    hint.hidden = on || toggle.disabled;
    for (const box of boxes) box.checked = state.channels.includes(box.value);
  }

  const refresh = () => push.state().then(show, () => {});

  /** Says what it has led to: the text, or the state. */
  async function act(
    work: () => Promise<unknown>,
    textOf: (failure: CarillonError | undefined) => string,
  ): Promise<void> {
    status.textContent = '';
    pending++;
    // Nothing is awaited before: browsers show the prompt only within a click.
    const failure = await work().then(
      () => {},
      (error) => error,
    );
    pending--;
    await refresh();
    // If there were several attempts, only the last one knows.
    if (!pending) status.textContent = textOf(failure) || summary;
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
    status.textContent = summary;
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
    refresh();
  }

  toggle.onchange = () => {
    const wanted = toggle.checked;
    const kept = keptChannels();
    if (!wanted) keepChannels(state.channels);
    act(
      () =>
        wanted
          ? push.subscribe(kept && { channels: kept }).then(forgetChannels)
          : push.unsubscribe(),
      // An unsubscribed browser stays unsubscribed, even if the service did not respond.
      (failure) => (isOn() === wanted ? '' : failureText(failure, all)),
    );
  };
  choice.onchange = () => {
    // Also the channels that have no box.
    const others = state.channels.filter((name) => !(name in channels));
    const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    act(
      () => push.setChannels([...others, ...chosen]),
      (failure) => failureText(failure, all) || all.saved,
    );
  };
  button.onclick = () => (panel.hidden ? openPanel() : closeAndReturn());
  // Without a target, the window or the browser's prompt has taken the focus.
  host.addEventListener('focusout', ({ relatedTarget }) => relatedTarget && closePanel());
  closePanel();
  refresh();
  const removeListener = push.on('change', show);
  return keepAttached(host, 'bell', () => {
    removeListener();
    closePanel();
  });
}

/**
 * Styles of the bell and its panel. The floating panel is above the bell, another one below it. Borders draw the switch,
 * because forced colours leave them.
 */
const panelStyle = `
:host{position:relative!important;width:max-content!important}
:host(.floating:not([hidden])){display:flex!important}
:host(.floating){flex-direction:column-reverse!important;align-items:end!important}
#panel{width:max-content;max-width:min(20em,100vw - 2em)}
:host(.floating) #panel{margin-block-end:.5em;max-height:calc(100vh - 6em);overflow:auto}
:host(:not(.floating)) #panel{position:absolute;inset-block-start:calc(100% + .5em);inset-inline-start:0;z-index:2147483647}
header{display:grid;grid-template-columns:1fr auto;gap:0 1em}
header label,#what{font-weight:600}
header~*{margin-block-start:1em}
#what{border-block-start:var(--line);padding-block-start:1em}
#what~label{display:flex;align-items:center;gap:.5em;min-height:44px}
input{flex:none;margin:0;width:1.5em;height:1.5em;color:inherit;accent-color:currentColor;font:inherit}
[role=switch]{appearance:none;width:3em;height:1.75em;border:2px solid;border-radius:1em;display:flex;align-items:center;padding:.125em;cursor:pointer;grid-row:span 2}
[role=switch]::before{content:"";border:.6em solid;border-radius:50%}
[role=switch]:checked{justify-content:end;background:currentColor}
[role=switch]:checked::before{border-color:var(--background)}
svg{display:block;margin:auto;width:1.5em;fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.on svg{fill:currentColor}
`;

/** A link to the site's page about privacy, if it has one. */
export function linkTo(href: string | undefined, { privacy }: BellTexts) {
  return href ? [create('a', { href }, privacy)] : [];
}

/**
 * The channels of a visitor who has switched notifications off, for the day when they are switched on again:
 * `unsubscribe()` forgets them.
 */
const storageKey = 'carillon-channels';

function keepChannels(channels: readonly string[]): void {
  attempt(() => localStorage.setItem(storageKey, channels.join(' ')));
}

/** Undefined if nobody has switched off. */
function keptChannels(): readonly string[] | undefined {
  const kept = attempt(() => localStorage.getItem(storageKey));
  return kept?.split(' ').filter(Boolean);
}

function forgetChannels(): void {
  attempt(() => localStorage.removeItem(storageKey));
}
