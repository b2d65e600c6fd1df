import { readFileSync } from 'node:fs';
import { codeIn } from '../fixtures/documented-example.ts';
import { type NpmProject, newNpmProject } from '../fixtures/npm-project.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { type Fault, startFaultyGateway } from './fixtures/faulty-gateway.ts';
import {
  canRun,
  type Language,
  languages as languagesByName,
  type Output,
  run,
  writeProgram,
} from './fixtures/languages.ts';

const document = 'docs/sending.md';
const languages: readonly Language[] = Object.values(languagesByName);

let service: Service;
/** Has the file of each language. */
let folder: NpmProject;

beforeAll(async () => {
  service = await startService();
  folder = await newNpmProject();
  for (const language of languages) {
    if (canRun(language)) writeProgram(language, folder, senderIn(language));
  }
});
afterAll(async () => {
  folder.remove();
  await service.stop();
});

function senderIn({ sender, tag }: Language): string {
  return sender === undefined ? codeIn(document, tag)[0]! : readFileSync(sender, 'utf8');
}

/** Runs a command with the variables that the examples read. */
function runFile(
  command: Language['run'],
  baseUrl: string,
  { projectId, secretKey }: ProjectCredentials,
): Promise<Output> {
  return run(command, folder, {
    CARILLON_BASE_URL: baseUrl,
    CARILLON_PROJECT: projectId,
    CARILLON_SECRET_KEY: secretKey,
  });
}

/** Sends from a language to a project with one browser, through a gateway with faults. */
async function sendThrough(faults: readonly Fault[], language: Language) {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const gateway = await startFaultyGateway(service.stack.baseUrl, faults);
  try {
    const output = await runFile(language.run, `${gateway.origin}/`, project);
    const { sends } = await service.usage(project.projectId);
    return { ...output, sends, messages: browser.messages.length, requests: gateway.requests };
  } finally {
    await gateway.stop();
  }
}

describe('the documented examples of sending repeat a send under one key, so that it notifies once', () => {
  for (const language of languages) {
    // Together, because the examples wait between attempts. Those that cannot run here are named as skipped.
    const testIfAvailable = canRun(language) ? test.concurrent : test.concurrent.skip;

    testIfAvailable(
      `${language.name}: after every kind of failure, one notification is sent`,
      async () => {
        const { stdout, stderr, sends, messages, requests } = await sendThrough(
          [
            'response lost',
            // Longer than any example would pause without it.
            { code: 'unavailable', retryAfter: 3 },
            { code: 'request_in_progress', retryAfter: 1 },
            { code: 'rate_limited', retryAfter: 1 },
          ],
          language,
        );
        expect(stdout + stderr).toMatch(/"?delivered"?: ?1\b|'delivered': 1\b/);
        expect({ sends, messages, attempts: requests.length }).toEqual({
          sends: 1,
          messages: 1,
          attempts: 5,
        });
        const keysAndBodies = requests.map(({ headers, body }) => [
          headers['idempotency-key'],
          body,
        ]);
        expect(new Set(keysAndBodies.map((pair) => JSON.stringify(pair))).size).toBe(1);
        expect(keysAndBodies[0]![0]).toMatch(/^[0-9a-f-]{32,36}$/);
        expect(requests.filter(({ isEarly }) => isEarly)).toEqual([]);
      },
    );

    testIfAvailable.each<[string, Fault]>([
      ['the cap of the month', { code: 'send_cap_reached', retryAfter: 1 }],
      ['an invalid request', { code: 'invalid_request' }],
      ['a Retry-After of an hour', { code: 'rate_limited', retryAfter: 3600 }],
    ])(`${language.name}: %s ends the send with its error`, async (_, fault) => {
      const { succeeded, stdout, stderr, sends, requests } = await sendThrough([fault], language);
      const { code } = fault as { code: string };
      expect({ succeeded, sends, attempts: requests.length }).toEqual({
        succeeded: false,
        sends: 0,
        attempts: 1,
      });
      expect(stdout + stderr).toContain(code);
    });

    testIfAvailable(`${language.name}: a line break in the secret key is not sent`, async () => {
      const project = await service.createProject();
      await service.subscribe(project);
      const { baseUrl } = service.stack;
      const ofFile = { ...project, secretKey: `${project.secretKey}\r\n` };
      const { stdout } = await runFile(language.run, baseUrl, ofFile);
      expect(stdout).toMatch(/"?delivered"?: ?1\b|'delivered': 1\b/);
    });

    testIfAvailable(`${language.name}: no error prints the secret key`, async () => {
      const project = await service.createProject();
      const half = 'never-printed';
      for (const between of ['-', '\n', '\u2026']) {
        const wrong = { ...project, secretKey: `carillon_sk_${half}${between}${half}` };
        const { succeeded, stdout, stderr } = await runFile(
          language.run,
          service.stack.baseUrl,
          wrong,
        );
        expect({ succeeded, printed: stdout + stderr }).toEqual({
          succeeded: false,
          printed: expect.not.stringContaining(half),
        });
      }
    });

    testIfAvailable.each([302, 307] as const)(
      `${language.name}: a redirect with %i ends the send: the secret key goes nowhere else`,
      async (redirect) => {
        const { succeeded, requests } = await sendThrough([{ redirect }], language);
        expect({ succeeded, attempts: requests.length }).toEqual({ succeeded: false, attempts: 1 });
      },
    );
  }

  test('two sends have different keys', async () => {
    const project = await service.createProject();
    const gateway = await startFaultyGateway(service.stack.baseUrl, []);
    try {
      const available = languages.filter(canRun);
      for (const language of [...available, ...available]) {
        await runFile(language.run, gateway.origin, project);
      }
      const keys = gateway.requests.map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys).size).toBe(2 * available.length);
    } finally {
      await gateway.stop();
    }
  });

  test('the example for large audiences prints the counts after the delivery', async () => {
    const project = await service.createProject();
    await service.subscribe(project);
    const file = folder.write('large.mjs', codeIn(document, 'js')[1]!);
    const { stdout } = await runFile([process.execPath, file], service.stack.baseUrl, project);
    expect(JSON.parse(stdout)).toEqual({ status: 'sent', attempted: 1, delivered: 1 });
  });

  test('the example of personal content sends each user a text, and prints who was not reached', async () => {
    const project = await service.createProject();
    const browser = await service.subscribe(project, 'grace');
    const file = folder.write('personal.mjs', codeIn(document, 'js')[2]!);
    const { stdout } = await runFile([process.execPath, file], service.stack.baseUrl, project);
    expect(JSON.parse(stdout)).toEqual(['ada']);
    expect(JSON.parse(browser.messages[0]!.text).notification).toMatchObject({
      title: 'Hello Grace',
      body: 'Your order 1043 is on its way.',
      navigate: 'https://example.com/orders/1043',
    });
  });

  test('a job of the example for queues that runs twice sends once', async () => {
    const project = await service.createProject();
    const browser = await service.subscribe(project);
    const [create, work] = codeIn(document, 'js')[3]!.split('// In the worker:');
    const file = folder.write(
      'job.mjs',
      `import { CarillonServer } from 'carillon/server';
    const carillon = CarillonServer.fromEnvironment();
    const notification = { title: 'Doors open at eight' };
    let job;
    const queue = { add: (stored) => { job = stored; } };
    ${create}
    for (let runs = 0; runs < 2; runs++) { ${work} }`,
    );
    const output = await runFile([process.execPath, file], service.stack.baseUrl, project);
    expect(output.succeeded).toBe(true);
    expect(browser.messages).toHaveLength(1);
  });
});
