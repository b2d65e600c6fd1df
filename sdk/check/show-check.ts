import { attach, create } from '../bell/elements.ts';
import type { CarillonOptions } from '../client/options.ts';
import { check, showTestNotification } from './check.ts';
import { type CheckTexts, english } from './texts.ts';

const marks = { ok: '✓', problem: '✗', advice: 'i' } as const;

/** Its background is its own, because a dark site may not say in its `color-scheme` that it is dark. */
const checkStyle = `
:host{padding:.5em 1em 1em!important;border:1px solid!important;border-radius:.5em!important;background:var(--background)!important}
ul{margin:0 0 1em;padding:0;list-style:none}
li{padding:.5em 0 .5em 2em;border-block-end:1px solid;overflow-wrap:anywhere}
li span{float:inline-start;width:1.5em;margin-inline-start:-2em;text-align:center;border:1px solid;border-radius:1em}
[data-level=problem] span{background:var(--carillon-color,CanvasText);color:var(--background)}
[data-level=problem] b{text-decoration:underline}
button{padding-inline:1em}
p:not(:empty){margin-block-start:1em}
`;

/**
 * Adds the results of {@link check} to the page, with a button for a test notification. The page's styles do not reach
 * them.
 * @param parent its contents are replaced.
 * @param texts replaces texts, such as with translations.
 */
export async function showCheck(
  parent: Element,
  options: CarillonOptions,
  texts: Partial<CheckTexts> = {},
): Promise<void> {
  const all = { ...english, ...texts };
  // Safari takes a list without marks for none.
  const list = create('ul', { class: 'carillon-check', role: 'list' });
  const status = create('p', { role: 'status' });
  const test = create('button', { type: 'button' }, all.test);
  test.onclick = async () => {
    const isShown = await showTestNotification(options, all);
    status.textContent = isShown ? all.testShown : all.testRefused;
  };
  for (const { name, level, message } of await check(options, all)) {
    const mark = create('span', {}, marks[level]);
    const title = create('b', {}, `${all[name]}:`);
    list.append(create('li', { 'data-level': level }, mark, ' ', title, ` ${message}`));
  }
  parent.replaceChildren();
  attach(checkStyle, parent, list, test, status);
}
