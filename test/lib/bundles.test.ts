import { readFileSync } from 'node:fs';
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
