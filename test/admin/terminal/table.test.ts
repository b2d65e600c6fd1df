import { styleText } from 'node:util';
import { type Column, table } from '../../../admin/terminal/table.ts';

describe('table', () => {
  it('aligns cells under their titles, without trailing spaces', () => {
    const columns: readonly Column<readonly [string, string, string]>[] = [
      ['name', ([name]) => name],
      ['count', ([, count]) => count, 'right'],
      ['note', ([, , note]) => note],
    ];
    const rows = [
      ['a', '1', ''],
      ['longer', '12,345', 'yes'],
    ] as const;
    expect(table(columns, rows)).toBe(
      'name     count  note\n' + 'a            1\n' + 'longer  12,345  yes\n',
    );
  });

  it('ignores colour codes when it aligns', () => {
    const red = styleText('red', 'ab', { validateStream: false });
    expect(
      table(
        [
          ['x', ({ x }) => x],
          ['y', ({ y }) => y],
        ],
        [
          { x: red, y: '1' },
          { x: 'abc', y: '2' },
        ],
      ),
    ).toBe(`x    y\n${red}   1\nabc  2\n`);
  });
});
