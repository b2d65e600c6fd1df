import { readFileSync } from 'node:fs';
import { transformSync } from '@swc/core';
import { refusal } from '../../lambdas/store/slices.ts';
import { explore, type Rule } from './lease-model.ts';

/** Fewer than in test/reliability/lease-model.test.ts: some seconds. */
const bounds = { writers: 3, chunks: 2, lateCalls: 1, isAwaited: true };
/** In which every fault of the rule shows. */
const smallBounds = [
  { ...bounds, writers: 2, chunks: 1, isAwaited: false },
  { ...bounds, writers: 2 },
];

test('nobody is pushed to twice, no claim is lost, and an end is in reach', () => {
  expect(explore(refusal, bounds).fault).toBeUndefined();
});

test('each fault of one token in the rule is found', () => {
  const isFound = (rule: Rule) => {
    try {
      return smallBounds.some((small) => explore(rule, small).fault !== undefined);
    } catch {
      return true;
    }
  };
  const faults = faultyRules();
  expect(faults.length).toBeGreaterThan(50);
  expect(faults.filter(({ rule }) => !isFound(rule)).map(({ name }) => name)).toEqual([
    // No fault: the same write is `stored` already.
    '<= in: const isOwn = lease?.by === id.by && lease.n <= id.n;',
  ]);
});

/** By which tokens a token is replaced. */
const replacements: readonly (readonly string[])[] = [
  ['===', '!=='],
  ['<', '<=', '>', '>='],
  ['&&', '||'],
  ["'stored'", "'lost'", "'stopped'", "'ended'", 'undefined'],
  ['lease', 'id', 'known'],
  ['isStopped', 'knowsStop'],
  ['by', 'n'],
  ['0', '1'],
  ['one', 'other'],
  ['!', '!!'],
];

/** The rule with one token replaced, in all ways that are JavaScript. */
function faultyRules(): { readonly name: string; readonly rule: Rule }[] {
  const source = readFileSync('lambdas/store/slices.ts', 'utf8');
  const { code } = transformSync(functionIn(source, 'refusal') + functionIn(source, 'isSame'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    isModule: false,
  });
  const tokens = code.split(/(\w+|'\w+'|[!=]==|[<>]=?|&&|\|\||!|\s+)/);
  return tokens.flatMap((token, index) => {
    const others = replacements.find((group) => group.includes(token)) ?? [];
    return others.flatMap((other) => {
      const faulty = tokens.with(index, other).join('');
      const line = tokens.slice(0, index).join('').split('\n').length - 1;
      const name = `${other} in: ${faulty.split('\n')[line]!.trim()}`;
      try {
        const rule = new Function(`${faulty}; return refusal;`)() as Rule;
        return other === token ? [] : [{ name, rule }];
      } catch {
        return [];
      }
    });
  });
}

/** The text of a function. */
function functionIn(source: string, name: string): string {
  const [, text] = new RegExp(`(function ${name}\\([^]*?\\n}\\n)`).exec(source)!;
  return text!;
}
