import { attach, create } from '../bell/elements.ts';
import { type TextsOf, withTexts } from '../bell/texts.ts';
import type { CarillonOptions } from '../client/options.ts';
import { type CheckResult, check, showTestNotification } from './check.ts';
import { type CheckTexts, english, fill } from './texts.ts';

const marks = { ok: '✓', problem: '✗', advice: 'i' } as const;

/** Its background is its own, because a dark site may not say in its `color-scheme` that it is dark. */
const checkStyle = `
:host{padding:1em!important;border:var(--line)!important;border-radius:12px!important;background:var(--background)!important}
#sum{font-weight:600}
ul{margin:.5em 0;padding:0;list-style:none}
li{position:relative;padding:.5em 0 .5em 1.75em;overflow-wrap:anywhere}
li b{display:block}
li span{position:absolute;inset-inline-start:0;width:1em;text-align:center;font-weight:700}
[data-level=problem] span{color:#d0433a;color:light-dark(#b3261e,#ffa69c)}
summary{padding-block:.5em;cursor:pointer}
button{margin-block:.5em;padding-inline:1em}
button:enabled{color:var(--background);background:var(--carillon-color,CanvasText)}
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
  texts: TextsOf<CheckTexts> = {},
): Promise<void> {
  const all = withTexts(english, texts);
  const results = await check(options, all);
  const listOf = (level: CheckResult['level']) =>
    results
      .filter((result) => result.level === level)
      .map(({ name, message }) => {
        const mark = create('span', {}, marks[level]);
        return create('li', { 'data-level': level }, mark, create('b', {}, all[name]), message);
      });
  // Safari takes a list without marks for none.
  const list = (items: readonly Element[]) => create('ul', { role: 'list' }, ...items);
  const problems = listOf('problem');
  const passed = listOf('ok');
  const { length } = problems;
  const count = String(length);
  const isAsked = results.some(({ name, level }) => name === 'registration' && level === 'ok');
  const right = isAsked ? all.allRight : all.notKnown;
  const summary =
    length === 0 ? right : length === 1 ? all.oneProblem : fill(all.problems, { count });
  const status = create('p', { role: 'status', id: 'status' });
  const test = create('button', { type: 'button', 'aria-describedby': 'status' }, all.test);
  test.disabled = length > 0;
  if (test.disabled) status.textContent = all.testRefused;
  test.onclick = async () => {
    const isShown = await showTestNotification(options, all);
    status.textContent = isShown ? all.testShown : all.testRefused;
  };
  parent.replaceChildren();
  attach(
    checkStyle,
    parent,
    create('p', { id: 'sum' }, summary),
    list([...problems, ...listOf('advice')]),
    create(
      'details',
      {},
      create('summary', {}, fill(all.passed, { count: String(passed.length) })),
      list(passed),
    ),
    test,
    status,
  );
}
