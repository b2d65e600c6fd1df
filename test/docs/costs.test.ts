import { readFileSync } from 'node:fs';
import { readAssembly } from '../../local/template/template.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { templateAlarms } from '../fixtures/template-alarms.ts';

const [, section = ''] = readFileSync('docs/performance.md', 'utf8').split('\n## Costs\n');
/** The tables of the section: their rows, without the heads. */
const [usage = [], months = [], sites = []] = section
  .match(/^\|.*?\n(?=\n)/gms)!
  .map((table) => table.trim().split('\n').slice(2).map(cellsOf));

function cellsOf(row: string): readonly string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('*', ''));
}

test('a row of usage costs the sum of its numbers, each times its price', () => {
  const [[, ...prices] = [], ...rows] = usage;
  expect(rows.length).toBeGreaterThan(0);
  for (const [what, ...cells] of rows) {
    const sum = cells
      .slice(0, -1)
      .reduce((total, cell, at) => total + Number(cell) * Number(prices[at]), 0);
    expect([what, cells.at(-1)]).toEqual([what, sum.toFixed(2)]);
  }
});

test('a row of a month costs its number times its price', () => {
  expect(months.length).toBeGreaterThan(0);
  for (const [what, number, price, dollars] of months) {
    expect([what, dollars]).toEqual([what, (Number(number) * Number(price)).toFixed(2)]);
  }
  const metrics = templateAlarms(readAssembly(sharedAssembly()).template).flatMap(
    (alarm) => alarm.metrics,
  );
  expect(months).toContainEqual(
    expect.arrayContaining(['metrics of alarms', String(metrics.length)]),
  );
});

test('a site costs the sum of its parts', () => {
  expect(sites.length).toBeGreaterThan(0);
  for (const [what, ...cells] of sites) {
    const sum = cells.slice(0, -1).reduce((total, cell) => total + Number(cell), 0);
    expect([what, cells.at(-1)]).toEqual([what, sum.toFixed(2)]);
  }
});
