import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The options of a command that npm has taken from its own command line. npm takes those before `--` for itself, without
 * a word, and passes them to the script in its environment.
 * @param options such as `--dry-run`.
 */
export function takenByNpm(
  options: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  // `npx` also has options: `npx --yes carillon …` is meant.
  if (!env.npm_command?.startsWith('run')) return [];
  const passed = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name])
    .map((name) => nameOf(name.slice(prefix.length)));
  // The environment also has what people keep in an .npmrc, such as `yes=true`.
  const kept = npmrcFiles(env).flatMap(keysIn).map(nameOf);
  return options.filter((option) => {
    const name = nameOf(option);
    return passed.includes(name) && !kept.includes(name);
  });
}

const prefix = 'npm_config_';

/** Without hyphens and case, which npm replaces. */
const nameOf = (option: string) => option.replaceAll(/[-_]/g, '').toLowerCase();

function npmrcFiles(env: NodeJS.ProcessEnv): readonly string[] {
  const project = join(env.npm_config_local_prefix ?? '.', '.npmrc');
  return [env.npm_config_userconfig ?? [], env.npm_config_globalconfig ?? [], project].flat();
}

function keysIn(file: string): readonly string[] {
  try {
    const keys = readFileSync(file, 'utf8').matchAll(/^\s*([\w-]+)\b(?!\s*=\s*false)/gm);
    return Array.from(keys, ([, key]) => key!);
  } catch {
    return []; // Most people have only some of the files.
  }
}
