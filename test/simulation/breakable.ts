import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';

type Module = Readonly<Record<string, unknown>>;

/** By its path from the root: in place of the module. */
const broken = new Map<string, Module>();

/** A module that can be broken: for the factory of `jest.mock`. */
export function breakable(path: string): Module {
  const actual = jest.requireActual<Module>(join('../..', path));
  const current = (name: string | symbol) => (broken.get(path) ?? actual)[name as string];
  return new Proxy(actual, { get: (_, name) => current(name) });
}

/** Replaces a text of a module while something is done. */
export async function breaking<Result>(
  path: string,
  [text, replacement]: readonly [text: string, replacement: string],
  act: () => Promise<Result>,
): Promise<Result> {
  const source = readFileSync(path, 'utf8');
  if (source.split(text).length !== 2) throw new Error(`Not once in ${path}: ${text}`);
  const { code } = transformSync(
    source.replace(text, () => replacement),
    {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
      module: { type: 'commonjs' },
    },
  );
  const exports: Module = {};
  const load = (id: string) => require(id.startsWith('.') ? join('../..', dirname(path), id) : id);
  new Function('exports', 'require', code)(exports, load);
  broken.set(path, exports);
  try {
    return await act();
  } finally {
    broken.delete(path);
  }
}
