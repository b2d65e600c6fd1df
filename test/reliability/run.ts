import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FigureRecord, recordsVariable } from './report/record.ts';
import { readRows, reliabilityDocument, type TestRun } from './report/reliability.ts';
import { seedVariable } from './report/seed.ts';

const help = `Runs the tests of test/reliability.

  npm run test:reliability                    all of them
  npm run test:reliability -- <arguments>     those that Jest's arguments choose: a path, -t "…"
  npm run test:reliability -- --report        all of them, and writes docs/reliability.md

Generated cases come from a seed, which is printed; ${seedVariable}=<seed> runs the same ones again.
`;
const document = 'docs/reliability.md';

function main(given: readonly string[]): number {
  if (given.includes('--help')) {
    process.stdout.write(help);
    return 0;
  }
  const wantsReport = given.includes('--report');
  const forJest = given.filter((argument) => argument !== '--report');
  if (wantsReport && forJest.length > 0) {
    process.stderr.write(
      'test:reliability: the report tells of all tests: --report stands alone.\n',
    );
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'carillon-trust-'));
  try {
    return run(folder, forJest, wantsReport);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(folder: string, forJest: readonly string[], wantsReport: boolean): number {
  const seed = process.env[seedVariable] ?? String(randomInt(2 ** 31));
  const records = join(folder, 'records');
  const results = join(folder, 'results.json');
  writeFileSync(records, '');
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/jest/bin/jest.js',
      '--config=jest.trust.config.mjs',
      '--json',
      `--outputFile=${results}`,
      ...forJest,
    ],
    {
      // Jest prints to stderr; what it has for stdout lies in the file.
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, [seedVariable]: seed, [recordsVariable]: records },
    },
  );
  process.stderr.write(`Seed: ${seed}\n`);
  if (status !== 0 || !wantsReport) return status ?? 1;
  const rows = readRows(
    JSON.parse(readFileSync(results, 'utf8')) as TestRun,
    readFileSync(records, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as FigureRecord),
    process.cwd(),
  );
  writeFileSync(document, reliabilityDocument(rows, seed));
  process.stderr.write(`Written: ${document}\n`);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
