import { table } from '../../admin/terminal/table.ts';
import type { Paint } from '../../admin/terminal/terminal.ts';
import {
  type Account,
  differs,
  type Figure,
  measures,
  type Source,
  witnesses,
} from './reconciliation.ts';

/** The accounts of all witnesses, one above the other, with what does not agree marked. */
export function reconciliationText(accounts: readonly Account[], paint: Paint): string {
  const columns = [
    { title: '' },
    ...measures.map((measure) => ({ title: measure, align: 'right' as const })),
  ];
  const rows = accounts.flatMap((account) => [
    [],
    [paint('bold', account.what)],
    ['  should be', ...measures.map((measure) => paint('dim', String(account.expected[measure])))],
    ...(Object.entries(witnesses) as [Source, string][]).map(([witness, said]) => [
      `  ${said}`,
      ...measures.map((measure) => {
        const value = account[witness][measure];
        if (value === undefined) return '';
        return differs(account, witness, measure)
          ? paint('red', `≠ ${value}`)
          : paint('green', String(value));
      }),
    ]),
  ]);
  return table(columns, rows, paint);
}

/** The figures, a line each. */
export function figuresText(figures: readonly Figure[], paint: Paint): string {
  const lines = figures.map(({ what, expected, sources }) => {
    const said = Object.entries(sources).map(([source, value]) =>
      value === expected
        ? `${source} ${paint('green', String(value))}`
        : `${source} ${paint('red', `≠ ${value}`)}`,
    );
    return `${paint('bold', what)}: ${said.join(', ')}\n`;
  });
  return lines.join('');
}
