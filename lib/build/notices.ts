import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licences of the packages whose code is in the bundles, as they require it. A text that packages share is there
 * once.
 * @param root of the repository.
 * @param sources paths of bundled files in the repository.
 */
export function notices(root: string, sources: readonly string[]): string {
  const folders = sources.flatMap(
    (source) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? [],
  );
  const names = new Map<string, string[]>();
  for (const folder of [...new Set(folders)].sort()) {
    const path = join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
    const text =
      file === undefined ? `Licence: ${license}` : readFileSync(join(path, file), 'utf8');
    names.set(text, [...(names.get(text) ?? []), `${name} ${version}`]);
  }
  return [...names]
    .map(([text, owners]) => `${owners.join('\n')}\n\n${text.trim()}\n`)
    .join('\n---\n\n');
}
