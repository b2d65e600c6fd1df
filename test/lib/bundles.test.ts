import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { locateHandler } from '../../local/lambda/function-instance.ts';
import { readFunctions } from '../../local/template/functions.ts';
import { createResolver } from '../../local/template/references.ts';
import { readAssembly } from '../../local/template/template.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';

const assembly = readAssembly(sharedAssembly());
const functions = readFunctions(assembly, createResolver(assembly.template));

test.each(functions)('$name loads Node’s modules with `require`', (definition) => {
  const { file } = locateHandler(definition);
  const code = readFileSync(file, 'utf8');
  expect(code).toContain('require("node:https")');
  expect(code).not.toMatch(/from ?"node:/);
});

test.each(functions)('$name does not contain the SDK’s code for event streams', (definition) => {
  const { sources } = JSON.parse(readFileSync(`${locateHandler(definition).file}.map`, 'utf8'));
  expect(sources.join()).toContain('/@smithy/core/');
  expect(sources.join()).not.toContain('/event-streams/');
});

test('stack traces point to the sources, also of an error while a bundle is loaded', async () => {
  const { file } = locateHandler(functions[0]!);
  // Without its variables a function throws.
  const load = promisify(execFile)(process.execPath, [file], { env: {} });
  const { stderr } = await load.catch((error: { stderr: string }) => error);
  const source = 'contract/environment.ts';
  const lines = readFileSync(source, 'utf8').split('\n');
  const line = 1 + lines.findIndex((text) => text.includes('throw new Error('));
  expect(stderr).toMatch(
    new RegExp(`Error: The function's environment .*\n +at .*${source}:${line}:11`),
  );
});
