import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { CommandError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Reads a secret, without the white space around it. Never from an argument, which other users of the machine
 * can see and the shell stores in its history.
 * @param file `-` reads standard input.
 * @throws {CommandError} without the name of the file, which may be the secret.
 */
export async function readSecret(file: string, input: Terminal['input']): Promise<string> {
  try {
    const bytes = file === '-' ? await buffer(input) : await readFile(file);
    // The redirection of Windows PowerShell writes UTF-16.
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes).trim();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new CommandError(
      'unreadable_secret',
      `Cannot read the file with the secret (${code}). Give the name of a file, or - for standard input; never the secret.`,
      { cause },
    );
  }
}
