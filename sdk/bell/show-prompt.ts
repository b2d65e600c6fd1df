import type { CarillonClient } from '../client/client-types.ts';
import type { CarillonError } from '../common/error.ts';
import { attach, attempt, create, keepAttached } from './elements.ts';
import { type BellOptions, linkTo } from './show-bell.ts';
import { english, failureText, withTexts } from './texts.ts';

export interface PromptOptions extends Omit<BellOptions, 'channels'> {
  /** Default: 0. */
  readonly delaySeconds?: number | undefined;
  /** For how long it stays away after "Not now". Default: 30. */
  readonly notNowDays?: number | undefined;
}

const storageKey = 'carillon-not-now';

/** It is above a floating bell, and below its panel. */
const promptStyle = `
:host(.floating){z-index:2147483646!important}
:host(.floating) section{margin-block-end:4em}
button{margin:1em .5em 0 0;padding-inline:1em}
p+button{color:var(--background);background:var(--carillon-color,CanvasText)}
button+button{border-color:transparent}
`;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Asks whether the visitor wants notifications, before the browser does: a person who refuses the
 * browser's prompt cannot be asked again. It appears only if the browser would show its prompt, and does
 * not move the focus.
 * @returns a function that removes it.
 */
export function showPrompt(push: CarillonClient, options: PromptOptions = {}): () => void {
  return attempt(() => addPrompt(push, options)) ?? (() => {});
}

function addPrompt(
  push: CarillonClient,
  { parent, texts = {}, delaySeconds = 0, notNowDays = 30, privacyUrl }: PromptOptions,
) {
  const all = withTexts(english, texts);
  const section = create('section', { 'aria-label': all.label, 'aria-live': 'polite' });
  const host = attach(promptStyle, parent, section);
  const removeListener = push.on('change', ({ subscribed, permission }) => {
    if (subscribed || permission === 'denied') remove();
  });
  const remove = keepAttached(host, 'prompt', removeListener);

  function refuse(): void {
    attempt(() => localStorage.setItem(storageKey, String(Date.now())));
    remove();
  }

  async function ask(): Promise<void> {
    const { permission } = await push.state();
    // Storage that is denied throws: then "Not now" cannot be remembered, and nobody is asked.
    const refusedMs = Date.now() - Number(localStorage.getItem(storageKey));
    // A time later than now was stored while the clock was wrong.
    const isRefused = refusedMs >= 0 && refusedMs < notNowDays * dayMs;
    if (permission !== 'default' || isRefused) return remove();
    const accept = create('button', { type: 'button' }, all.accept);
    const notNow = create('button', { type: 'button' }, all.notNow);
    const question = create('p', {}, all.question);
    accept.onclick = () =>
      push.subscribe().catch((failure: CarillonError) => {
        if (failure.code.startsWith('permission_')) refuse();
        else question.textContent = failureText(failure, all);
      });
    notNow.onclick = refuse;
    host.onkeydown = ({ key }) => {
      if (key === 'Escape') refuse();
    };
    section.append(question, accept, notNow, ...linkTo(privacyUrl, all));
  }

  setTimeout(() => ask().catch(remove), delaySeconds * 1000);
  return remove;
}
