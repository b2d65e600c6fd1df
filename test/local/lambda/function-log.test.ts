import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionLog } from '../../../local/lambda/function-log.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('the log has one JSON object per write of a function', async () => {
  const file = join(folder.path, 'functions.log');
  const log = functionLog(file);
  log.write({ function: 'Send', text: '{"level":"INFO"}' });
  log.write({ function: 'Track', text: 'Error: boom\n    at x' });
  await log.close();
  const time = expect.stringMatching(/^\d{4}-/);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time, function: 'Send', log: { level: 'INFO' } },
    { time, function: 'Track', log: 'Error: boom\n    at x' },
  ]);
});

test('a log without lines does not replace the previous one', async () => {
  const file = folder.write('functions.log', 'before');
  await functionLog(file).close();
  expect(readFileSync(file, 'utf8')).toBe('before');
});
