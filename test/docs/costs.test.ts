import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readAssembly } from 'aws-emulator/template';
import { quotasSchema } from '../../contract/infrastructure/aws-quotas.ts';
import { defaultLimits } from '../../contract/wire/limits.ts';
import { readSettings } from '../../lib/settings.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type FloodSource, flood, largestSubscription } from '../fixtures/flood-costs.ts';
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
  const metrics = templateAlarms(readAssembly(sharedAssembly).template).flatMap(
    (alarm) => alarm.metrics,
  );
  const [, written] = months.find(([what]) => what === 'metrics of alarms')!;
  // The sums of the section are right to a tenth: a route adds two metrics.
  expect(Math.abs(metrics.length / Number(written) - 1)).toBeLessThan(0.1);
});

describe('a flood at all throttles', () => {
  const { Outputs } = readAssembly(sharedAssembly).template as unknown as {
    Outputs: { Quotas: { Value: string } };
  };
  const { requestsPerSecond } = quotasSchema.parse(JSON.parse(Outputs.Quotas.Value));
  const { eventsPerSecond } = readSettings({ stage: 'dev' });
  const [[, ...prices] = []] = usage;
  const runbook = readFileSync('docs/runbook.md', 'utf8').replace(/\s+/g, ' ');
  const files = readdirSync(sharedAssembly, { recursive: true }) as string[];
  const page = files.find((file) => file.endsWith('page/index.html.gz'))!;
  const consoleFolder = join(sharedAssembly, dirname(page));

  /** Dollars of an hour, by kind of request. */
  async function hourOf(from: FloodSource) {
    const subscriptionBytes = await largestSubscription();
    const kinds = flood(from, { eventsPerSecond, subscriptionBytes, consoleFolder });
    expect(kinds.reduce((sum, [, perSecond]) => sum + perSecond, 0)).toBe(requestsPerSecond);
    const hour = kinds.map(([what, perSecond, used]) => {
      const numbers = Object.values(used) as readonly number[];
      const each = numbers.reduce(
        (sum, number, at) => sum + (number * Number(prices[at])) / 1e6,
        0,
      );
      return [what, perSecond * 3600 * each] as const;
    });
    if (process.env.FIGURES) console.log(from, subscriptionBytes, Object.fromEntries(hour));
    const sum = (of: RegExp) =>
      Math.round(hour.reduce((all, [what, dollars]) => all + (of.test(what) ? dollars : 0), 0));
    return { all: sum(/./), sum };
  }

  test('costs in an hour what the runbook says, from one machine and from many', async () => {
    const many = await hourOf('many addresses');
    const one = await hourOf('one address');
    const stated =
      /at most (\d+) dollars an hour, and (\d+) from one address: \$(\d+) for 18 million events, \$(\d+) for 1.8 million of the largest subscriptions and their removal/.exec(
        runbook,
      )!;
    const calculated = [many.all, one.all, many.sum(/^track$/), many.sum(/^(un)?subscribe$/)];
    for (const [at, dollars] of calculated.entries()) {
      // It costs at most what is stated, and not much less.
      expect(Number(stated[at + 1])).toBeGreaterThanOrEqual(dollars);
      expect(Number(stated[at + 1])).toBeLessThan(1.2 * dollars);
    }
  });

  test('costs 20 times the gateway’s part with the largest bodies', () => {
    const [, perMillionRequests] = usage[0]!;
    const gateway = (requestsPerSecond * 3600 * Number(perMillionRequests)) / 1e6;
    expect(runbook).toContain(`its part of $${Math.round(gateway)} may be 20 times as much`);
  });
});

test('a site costs the sum of its parts', () => {
  expect(sites.length).toBeGreaterThan(0);
  for (const [what, ...cells] of sites) {
    const sum = cells.slice(0, -1).reduce((total, cell) => total + Number(cell), 0);
    expect([what, cells.at(-1)]).toEqual([what, sum.toFixed(2)]);
  }
});

describe('a number that documents repeat is that of its home:', () => {
  const all = readFileSync('docs/performance.md', 'utf8');
  const flat = (file: string) => readFileSync(file, 'utf8').replace(/\s+/g, ' ');
  const audience = (subscribers: string, mode: string) => {
    const row = all.split('\n').find((line) => line.startsWith(`| ${subscribers} | ${mode} |`))!;
    const [, , , seconds, unreached] = cellsOf(row);
    return { seconds: Number(seconds), unreached: Number(unreached!.replaceAll(',', '')) };
  };
  const site = (what: string) => Number(sites.find(([name]) => name!.startsWith(what))!.at(-1));

  test('how many subscribers a send reaches while the server waits', () => {
    const reached = 1_000_000 - audience('1,000,000', 'sync').unreached;
    const about = `about ${(Math.round(reached / 100_000) * 100_000).toLocaleString('en')}`;
    for (const file of ['docs/api.md', 'docs/sending.md', 'docs/performance.md']) {
      expect([file, flat(file)]).toEqual([file, expect.stringContaining(about)]);
    }
  });

  test('how long a broadcast to a million takes', () => {
    const { seconds } = audience('1,000,000', 'async');
    const pace = 20_000;
    const slower = Math.round(seconds + 1_000_000 / 8000 - 1_000_000 / pace);
    expect(flat('docs/performance.md')).toContain(`| 1,000,000 | ${Math.round(seconds)} s |`);
    expect(flat('docs/deploy.md')).toContain(`| ${slower} s | ${Math.round(seconds)} s |`);
  });

  test('what a flood costs', () => {
    const [, most] = /costs at most (\d+) dollars an hour/.exec(flat('docs/runbook.md'))!;
    expect(flat('docs/deploy.md')).toContain(`[at most ${most} an hour]`);
  });

  test('what a leaked secret key costs', () => {
    const broadcasts = defaultLimits.monthlySendCap;
    const subscribers = defaultLimits.subscriberCap;
    const millions = (broadcasts * subscribers) / 1e6;
    const month = (name: string) => {
      const perMillion = Number(usage.find(([what]) => what === name)!.at(-1));
      return (millions * perMillion).toLocaleString('en');
    };
    const least = month('A million pushes, by a broadcast to a million');
    const most = month('A million pushes, by broadcasts to 1,000 subscribers');
    const events = month('A million events');
    expect(flat('docs/runbook.md')).toContain(
      `${broadcasts.toLocaleString('en')} broadcasts to ${subscribers.toLocaleString('en')} subscribers: ${millions.toLocaleString('en')} million pushes for ${least} to ${most} dollars, and ${events}`,
    );
    expect(flat('docs/deploy.md')).toContain(
      `[at most ${most} a month for pushes](runbook.md#unexpected-costs), and ${events}`,
    );
  });

  test('what a daily million costs, and a stage without traffic', () => {
    const [full, sampled] = [site('A broadcast a day'), site('The same')].map(Math.round);
    const [, idle] = /without traffic, (\d\.\d\d)/.exec(flat('docs/performance.md'))!;
    expect(flat('docs/deploy.md')).toContain(
      `[${full} a month](performance.md#costs), or ${sampled}`,
    );
    expect(flat('docs/deploy.md')).toContain(`for alarms | ${idle} |`);
    expect(flat('docs/decisions/0015-alarms.md')).toContain(`$${idle} a month`);
    expect(flat('admin/deploy/deploy.ts')).toContain(`cost $${idle} a month`);
    const readme = flat('README.md');
    expect(readme).toContain(`Carillon costs $${idle} a month`);
    expect(readme).toContain(` | ${full} | | the same, if one browser in ten`);
    expect(readme).toContain(` | | | ${sampled} |`);
  });
});
