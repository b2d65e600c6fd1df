import { readFile, writeFile } from 'node:fs/promises';

/** Settings as the operator writes them, by their names. */
export type Settings = Readonly<Record<string, unknown>>;

/** Where the settings of a deployment are kept. */
export interface SettingsFile {
  /** For messages. */
  readonly name: string;
  read(): Promise<Settings>;
  /** Where the stack is. Undefined: in the region of the shell. */
  region(): Promise<string | undefined>;
  /** Leaves the other settings as they are. Undefined removes one. @param region of the stack. */
  write(settings: Settings, region: string): Promise<void>;
}

/** The settings in `context` of a cdk.json, which also has entries of the CDK. */
export function cdkJson(file: string): SettingsFile {
  return {
    name: 'cdk.json',

    async read() {
      return JSON.parse(await readFile(file, 'utf8')).context;
    },

    region: async () => undefined,

    async write(settings) {
      let text = await readFile(file, 'utf8');
      for (const [name, value] of Object.entries(settings)) {
        const present = `"${name.replace('.', '\\.')}":\\s*("(?:[^"\\\\]|\\\\.)*"|\\w+)`;
        if (value === undefined) {
          text = text.replace(new RegExp(`\\s*${present},|,?\\s*${present}`), '');
          continue;
        }
        const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
        text = new RegExp(present).test(text)
          ? text.replace(new RegExp(present), () => entry)
          : text.replace(/"context": \{\n/, (start) => `${start}    ${entry},\n`);
      }
      await writeFile(file, text);
    },
  };
}

/** A carillon.json: the region and the settings. A first deployment creates it. */
export function carillonJson(file: string): SettingsFile {
  async function content(): Promise<Settings & { readonly region?: string }> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new Error(`${file} is malformed: ${(cause as Error).message}`, { cause });
    }
  }
  return {
    name: 'carillon.json',

    async read() {
      const { region: _, ...settings } = await content();
      return settings;
    },

    region: async () => (await content()).region,

    async write(settings, region) {
      const written = { region, ...(await content()), ...settings };
      await writeFile(file, `${JSON.stringify(written, null, 2)}\n`);
    },
  };
}
