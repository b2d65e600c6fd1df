import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locateHandler } from 'aws-emulator/function-pool';
import { type FunctionDefinition, readFunctions } from 'aws-emulator/functions';
import { readAssembly } from 'aws-emulator/template';
import { sharedAssembly } from '../fixtures/assembly.ts';

const assembly = readAssembly(sharedAssembly);
const functions = readFunctions(assembly);

/** Those that call DynamoDB. */
const callers = functions.filter(({ name }) => !name.startsWith('Console'));

/** The paths of a bundle's sources, one after the other. */
function sourcesOf(definition: FunctionDefinition): string {
  const { file } = locateHandler(definition);
  return JSON.parse(readFileSync(`${file}.map`, 'utf8')).sources.join('\n');
}

test.each(callers)('$name loads Node’s modules with `require`', (definition) => {
  const { file } = locateHandler(definition);
  const code = readFileSync(file, 'utf8');
  expect(code).toContain('require("node:https")');
  expect(code).not.toMatch(/from ?"node:/);
});

test.each(callers)('$name does not contain the SDK’s code for event streams', (definition) => {
  const sources = sourcesOf(definition);
  expect(sources).toContain('/@smithy/core/');
  expect(sources).not.toContain('/event-streams/');
});

// OpenTelemetry's layer and its like wrap the handler when the bundle is loaded.
test.each(functions)('$name exports a handler that a layer can replace', async (definition) => {
  const { file } = locateHandler(definition);
  const script = `
    const bundle = require(${JSON.stringify(file)});
    Object.defineProperty(bundle, 'handler', { value: () => 'wrapped', writable: true });
    bundle.handler = (original => () => original() + ' twice')(bundle.handler);
    console.log(require(${JSON.stringify(file)}).handler());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    env: { ...definition.environment, AWS_REGION: 'eu-west-1' },
  });
  expect(stdout).toBe('wrapped twice\n');
});

test('the console’s bundle has the page, and no code for calls', () => {
  const definition = functions.find(({ name }) => name.startsWith('Console'))!;
  expect(sourcesOf(definition)).not.toMatch(/@aws-sdk|@smithy/);
  expect(readdirSync(join(definition.assetPath, 'page'))).toContain('index.html.gz');
});

test('only functions that read what a notification shows make its schemas', () => {
  const readers = functions.filter((definition) =>
    sourcesOf(definition).includes('contract/wire/notification.ts'),
  );
  expect(readers.map(({ name }) => name.slice(0, -8))).toEqual(['Send', 'Deliver']);
});

test('stack traces point to the sources, also of an error while a bundle is loaded', async () => {
  const { file } = locateHandler(functions[0]!);
  // Without its variables a function throws.
  const load = promisify(execFile)(process.execPath, [file], { env: {} });
  const { stderr } = await load.catch((error: { stderr: string }) => error);
  const source = 'contract/infrastructure/environment.ts';
  const lines = readFileSync(source, 'utf8').split('\n');
  const line = 1 + lines.findIndex((text) => text.includes('throw new Error('));
  expect(stderr).toMatch(
    new RegExp(`Error: The function's environment .*\n +at .*${source}:${line}:11`),
  );
});
