import { Command, InvalidArgumentError } from 'commander';
import { type LargeReport, type LargeSend, simulateLarge } from './large-simulation.ts';
import { model } from './model.ts';

interface Options {
  readonly subscribers?: number;
  readonly pushesPerSecond: number;
  readonly concurrency: number;
  readonly seed: number;
}

const audiences = [1000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 5_000_000];

const header = [
  '| Subscribers | Mode | Functions | Seconds | Unreached | Reads/s | Writes/s | Dollars |',
  '|---|---|---|---|---|---|---|---|',
].join('\n');

new Command('npm run simulate --')
  .description('Simulates sends to large audiences in virtual time.')
  .option('--subscribers <number>', 'one audience instead of all', wholeNumber)
  .option('--pushes-per-second <number>', 'pace of a broadcast', wholeNumber, 20_000)
  .option('--concurrency <number>', 'functions of the account at once', wholeNumber, 1000)
  .option('--seed <number>', 'of the random latencies', wholeNumber, 1)
  .action(run)
  .parse();

async function run({ subscribers, ...settings }: Options): Promise<void> {
  process.stdout.write(`${modelText()}\n\n${header}\n`);
  for (const audience of subscribers === undefined ? audiences : [subscribers]) {
    for (const respondAsync of [false, true]) {
      const send = { ...settings, subscribers: audience, respondAsync };
      process.stdout.write(`${rowOf(send, await simulateLarge(send))}\n`);
    }
  }
}

function rowOf({ subscribers, respondAsync }: LargeSend, report: LargeReport): string {
  const { functions, seconds, unreached, busiest, dollars } = report;
  const cells = [
    numberText(subscribers),
    respondAsync ? 'async' : 'sync',
    numberText(functions),
    seconds.toFixed(1),
    numberText(unreached),
    numberText(Math.round(busiest.reads)),
    numberText(Math.round(busiest.writes)),
    dollars.toFixed(5),
  ];
  return `| ${cells.join(' | ')} |`;
}

function modelText(): string {
  return Object.entries(model)
    .map(([name, { value, unit, source }]) => `${name}: ${value} ${unit} (${source})`)
    .join('\n');
}

function numberText(number: number): string {
  return number.toLocaleString('en-US');
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Use a whole number above 0.');
  return Number(text);
}
