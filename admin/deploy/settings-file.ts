import { readFile, writeFile } from 'node:fs/promises';

/** Settings as `context` in cdk.json has them, with the CDK's own entries. */
export type Context = Readonly<Record<string, unknown>>;

export async function readContext(file: string): Promise<Context> {
  return JSON.parse(await readFile(file, 'utf8')).context;
}

/** Writes settings into `context`, and leaves the rest of the file as it is. */
export async function writeSettings(
  file: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<void> {
  let text = await readFile(file, 'utf8');
  for (const [name, value] of Object.entries(settings)) {
    const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    const present = new RegExp(`"${name}":\\s*("(?:[^"\\\\]|\\\\.)*"|\\d+)`);
    text = present.test(text)
      ? text.replace(present, () => entry)
      : text.replace(/"context": \{\n/, (start) => `${start}    ${entry},\n`);
  }
  await writeFile(file, text);
}
