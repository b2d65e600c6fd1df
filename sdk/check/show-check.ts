import { create } from '../bell/elements.ts';
import type { CarillonOptions } from '../client/options.ts';
import { check, showTestNotification } from './check.ts';

const marks = { ok: '✓', problem: '✗', advice: 'i' } as const;

/**
 * Adds the results of {@link check} to the page, with a button for a test notification. The page's styles apply.
 * @param parent gets a list, whose items have `data-level`, a button and a status.
 */
export async function showCheck(parent: Element, options: CarillonOptions): Promise<void> {
  const list = create('ul', { class: 'carillon-check' });
  const status = create('p', { role: 'status' });
  const test = create('button', { type: 'button' }, 'Show a test notification');
  test.onclick = async () => {
    const isShown = await showTestNotification(options);
    status.textContent = isShown
      ? 'The browser has it. If you do not see it, the system hides it.'
      : 'Correct the problems above first.';
  };
  const results = await check(options);
  list.append(
    ...results.map(({ name, level, message }) =>
      create('li', { 'data-level': level }, `${marks[level]} ${name}: ${message}`),
    ),
  );
  parent.replaceChildren(list, test, status);
}
