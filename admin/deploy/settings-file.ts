import { readFile, writeFile } from 'node:fs/promises';

/** Settings as the operator writes them, by their names. */
export type Settings = Readonly<Record<string, unknown>>;

/** Where the settings of a deployment are kept. */
export interface SettingsFile {
  /** For messages. */
  readonly name: string;
  read(): Promise<Settings>;
  /** Leaves the other settings as they are. */
  write(settings: Settings): Promise<void>;
}

/** The settings in `context` of a cdk.json, which also has entries of the CDK. */
export function cdkJson(file: string): SettingsFile {
  return {
    name: 'cdk.json',

    async read() {
      return JSON.parse(await readFile(file, 'utf8')).context;
    },

    async write(settings) {
      let text = await readFile(file, 'utf8');
      for (const [name, value] of Object.entries(settings)) {
        const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
        const present = new RegExp(`"${name}":\\s*("(?:[^"\\\\]|\\\\.)*"|\\w+)`);
        text = present.test(text)
          ? text.replace(present, () => entry)
          : text.replace(/"context": \{\n/, (start) => `${start}    ${entry},\n`);
      }
      await writeFile(file, text);
    },
  };
}
