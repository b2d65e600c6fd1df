import { styleText } from 'node:util';
import { table } from '../../../admin/terminal/table.ts';

describe('table', () => {
  it('aligns cells under their titles, without trailing spaces', () => {
    const columns = [
      { title: 'name' },
      { title: 'count', align: 'right' },
      { title: 'note' },
    ] as const;
    const rows = [
      ['a', '1', ''],
      ['longer', '12,345', 'yes'],
    ];
    expect(table(columns, rows)).toBe(
      'name     count  note\n' + 'a            1\n' + 'longer  12,345  yes\n',
    );
  });

  it('ignores colour codes when it aligns', () => {
    const red = styleText('red', 'ab', { validateStream: false });
    expect(
      table(
        [{ title: 'x' }, { title: 'y' }],
        [
          [red, '1'],
          ['abc', '2'],
        ],
      ),
    ).toBe(`x    y\n${red}   1\nabc  2\n`);
  });
});
