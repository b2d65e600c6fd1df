import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { withSettings } from '../../bin/generate.ts';
import { llmsText } from '../../bin/llms.ts';
import { defaultLimits, limits } from '../../contract/wire/limits.ts';
import { pushServiceHosts } from '../../contract/wire/push-services.ts';
import { routes } from '../../contract/wire/routes.ts';
import { openApiDocument } from '../../contract/wording/openapi/document.ts';
import type { Operation } from '../../contract/wording/openapi/operation.ts';
import { operations } from '../../contract/wording/openapi/operations.ts';
import {
  generatedDocuments,
  withGeneratedBlocks,
} from '../../contract/wording/openapi/reference.ts';
import { cursorOf } from '../../lambdas/list-notifications/list-notifications.ts';
import { version } from '../../package.json' with { type: 'json' };
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { startService } from '../fixtures/service.ts';

const reference = readFileSync('docs/api.md', 'utf8');

test('each example gets the response that contract/wording/openapi documents', async () => {
  const service = await startService();
  try {
    const project = await service.createProject();
    await service.subscribe(project);
    await service.send(project, { title: 'Seats on sale' });
    const { body } = await service.send(project, { title: 'Doors open at eight' });
    const examples = examplesIn('docs/api.md', '## Subscribe');
    const responses = await run(examples, {
      cwd: tmpdir(),
      env: {
        CARILLON_BASE_URL: service.stack.baseUrl,
        CARILLON_PROJECT: project.projectId,
        CARILLON_SECRET_KEY: project.secretKey,
        NOTIFICATION: body.id,
        CURSOR: cursorOf(body.id),
      },
      // Prints the status before the body, as in the document.
      prelude: `curl() { command curl -s -w '\\n%{http_code}\\n' "$@" | { read -r body; read -r status; echo "$status $body"; }; }`,
    });
    expect(examples.length).toBeGreaterThan(5);
    expect(responses.map(withoutIds)).toEqual(examples.map(({ response }) => withoutIds(response)));
  } finally {
    await service.stop();
  }
});

test('openapi.json is what the contract says: npm run api-docs writes it', () => {
  expect(JSON.parse(readFileSync('openapi.json', 'utf8'))).toEqual(openApiDocument(version));
});

test('generators of clients can make a type of each component', () => {
  const { components, paths } = openApiDocument(version);
  const names = Object.values(components).flatMap((kind) => Object.keys(kind));
  const operationTypes = Object.values(routes).map(({ name }) => `${name}Response`);
  const ofLanguages = [
    'Ok',
    'Err',
    'Error',
    'Option',
    'Result',
    'Event',
    'Exception',
    'Object',
    'String',
  ];
  const types = [...names, ...operationTypes, ...ofLanguages].map((name) => name.toLowerCase());
  expect(types.filter((name, index) => types.indexOf(name) !== index)).toEqual([]);
  // It becomes an enumeration of text.
  expect(JSON.stringify({ components, paths })).not.toMatch(/"const":(true|false)/);
});

test.each(generatedDocuments)(
  'the generated blocks of %s are what the contract says: npm run api-docs writes them',
  (file) => {
    const document = readFileSync(file, 'utf8');
    expect(document).toBe(withGeneratedBlocks(document));
  },
);

test('docs/deploy.md has the settings and their comments: npm run api-docs writes them', () => {
  const document = readFileSync('docs/deploy.md', 'utf8');
  expect(document).toBe(withSettings(document));
  for (const name of ['stage', 'vpc']) expect(document).toContain(`| \`${name}\` |`);
});

test('llms.txt has what the documents say, in less than 300 lines: npm run api-docs writes it', () => {
  const text = readFileSync('llms.txt', 'utf8');
  expect(text).toBe(llmsText((file) => readFileSync(file, 'utf8')));
  expect(text.split('\n').length).toBeLessThan(300);
});

test.each(Object.entries(operations))('docs/api.md shows all of %s', (name, operation) => {
  const { summary, headers, query, body, responses, examples }: Operation = operation;
  const [usual] = Object.keys(responses);
  const blocks = [
    'description',
    ...(headers === undefined ? [] : ['headers']),
    ...(query === undefined ? [] : ['query']),
    ...(body === undefined ? [] : ['body']),
    ...(responses[Number(usual)]!.content.name === 'Success' ? [] : [`response ${usual}`]),
    ...Object.keys(examples).map((example) => `example ${example}`),
    'errors',
  ];
  const written = blocks.map((block) => `<!-- generated: ${name} ${block} -->`);
  // Otherwise one block is its whole section.
  if (reference.includes(written[0]!)) for (const one of written) expect(reference).toContain(one);
  else expect(reference).toContain(`\n## ${summary}\n`);
});

test('an unknown generated block is refused', () => {
  const markdown = (name: string) => `<!-- generated: ${name} -->\n<!-- end -->`;
  for (const name of ['x', 'send x', 'send example x', 'send response 200', 'track headers']) {
    expect(() => withGeneratedBlocks(markdown(name))).toThrow(`Unknown generated block: ${name}`);
  }
});

test('docs/api.md lists exactly the accepted push services', () => {
  const [, section] = reference.split('## Push services');
  const hosts = [...section!.matchAll(/^\| `([^`]+)` \|/gm)].map(([, host]) => host);
  expect(hosts).toEqual(pushServiceHosts);
});

// The others are in generated blocks.
test.each([
  limits.messageBytes,
  defaultLimits.rateLimitPerMinute,
  defaultLimits.monthlySendCap,
  defaultLimits.subscriberCap,
])('docs/api.md states the limit %i', (limit) => {
  expect(reference).toMatch(new RegExp(`\\b${limit.toLocaleString('en-US')}\\b`));
});
