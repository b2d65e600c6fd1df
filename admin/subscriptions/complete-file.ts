import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../errors.ts';

/**
 * Writes a file that appears under its name when it is complete. Only its owner can read it. If the text fails, the
 * file is as it was.
 * @throws {CommandError} before anything of the text is read.
 */
export async function writeCompleteFile(file: string, text: AsyncIterable<string>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const opened = await openNew(file, unfinished).catch((cause: Error) => {
    const message = `Cannot write ${file}: ${cause.message}`;
    throw new CommandError('unwritable_file', message, { cause });
  });
  try {
    await pipeline(Readable.from(text), opened.createWriteStream());
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function openNew(file: string, unfinished: string) {
  // A directory could not be replaced in the end, and a device such as /dev/null must not be.
  const existing = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (existing?.isFile() === false) throw new Error('it is not a regular file.');
  await rm(unfinished, { force: true });
  return open(unfinished, 'wx', 0o600);
}
