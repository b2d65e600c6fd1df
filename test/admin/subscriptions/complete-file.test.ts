import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeCompleteFile } from '../../../admin/commands/subscriptions.ts';
import { useFolder } from '../../fixtures/folder.ts';

const folder = useFolder();

async function* pages() {
  yield 'new, ';
  yield 'complete';
}

it('replaces a file, and what an earlier call left, by one that only its owner can read', async () => {
  const file = folder.write('file', 'old');
  folder.write('file.unfinished', 'left');
  await writeCompleteFile(file, pages());
  expect(readFileSync(file, 'utf8')).toBe('new, complete');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['file']);
});

it('keeps the old file and leaves no other one if the text fails', async () => {
  const file = folder.write('file', 'old');
  async function* failing() {
    yield 'secret';
    throw new Error('The database failed.');
  }
  await expect(writeCompleteFile(file, failing())).rejects.toThrow('The database failed.');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder.path)).toEqual(['file']);
});

it.each([
  ['none/file', 'ENOENT: no such file or directory'],
  ['file/under', 'ENOTDIR: not a directory'],
  ['', 'it is not a regular file.'],
])('reads nothing if the file "%s" cannot be written', async (name, reason) => {
  folder.write('file', '');
  let isRead = false;
  async function* watched() {
    isRead = true;
    yield 'secret';
  }
  const file = join(folder.path, name);
  await expect(writeCompleteFile(file, watched())).rejects.toMatchObject({
    code: 'unwritable_file',
    message: expect.stringContaining(`Cannot write ${file}: ${reason}`),
  });
  expect(isRead).toBe(false);
  expect(readdirSync(folder.path)).toEqual(['file']);
});
