import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { codeSample, type SampleLanguage } from '../../console/page/code-samples.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';

const project = { baseUrl: 'https://push.example', projectId: 'shop', respondAsync: false };

/** Texts that end a literal or a comment, or start an expansion, in one of the languages. */
const hostile = [
  ...String.raw`' " \ $ ! # % & ; * ~ ?> <?php </script> ''' """ '\'' \" \u0041 \x41`.split(' '),
  ...'` \u0024{ $(id) {$a} #{a} %s // /* */ true null __proto__ ": 👩‍👩‍👧 é'.split(' '),
  ...['\n', '\r', '\t', '\0', '\b', '\u007f', '\u0085', '\u2028', '\u202e', '\ufeff'],
  ...['\nJSON', '\nJSON;\n'],
];
const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary' })),
});
/** The name that sets a prototype, and others that only end with it. */
const prototypes = String.raw`{ "__proto__": { "a": 1 }, "0": [], "e": {}, "\"__proto__": 1, "\\\"__proto__": 2 }`;
const data = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary' }));
const notifications: fc.Arbitrary<SendRequest> = fc.record(
  {
    title: text,
    body: text,
    url: fc.webUrl(),
    actions: fc.array(fc.record({ action: text, title: text }), { maxLength: 2 }),
    userIds: fc.array(text, { minLength: 1, maxLength: 3 }),
    data: fc.oneof(data, fc.constant(JSON.parse(prototypes))),
    silent: fc.boolean(),
    ttl: fc.nat(),
  },
  { requiredKeys: ['title'] },
);

/**
 * Asserts that samples of a language, run by its interpreter, send what the form has.
 * @param bodiesOf runs samples. @returns the body that each has sent.
 */
async function expectToSendTheForm(
  language: SampleLanguage,
  bodiesOf: (samples: readonly string[]) => readonly string[] | Promise<readonly string[]>,
) {
  const forms = fc.array(notifications, { minLength: 50, maxLength: 100 });
  const property = fc.asyncProperty(forms, async (sent) => {
    const bodies = await bodiesOf(
      sent.map((notification) => codeSample(language, { ...project, notification })),
    );
    // As text, so that `__proto__` counts.
    expect(bodies.map((body) => JSON.stringify(JSON.parse(body)))).toEqual(
      sent.map((notification) => JSON.stringify(notification)),
    );
  });
  // One run of the interpreter for many samples, and none to shrink them: it starts slowly.
  await fc.assert(property, { seed: 1, numRuns: 3, endOnFailure: true });
}

function run(command: string, args: readonly string[], input: string): string {
  const env = { ...process.env, CARILLON_SECRET_KEY: 'key' };
  const { status, stdout, stderr } = spawnSync(command, args, { input, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

test('curl: Bash passes any text as it was written', () =>
  expectToSendTheForm('curl', (samples) =>
    run(
      'bash',
      ['-eu'],
      // In place of curl: prints its last argument.
      `curl() { printf '%s\\0' "\${@: -1}"; }\nod() { :; }\n${samples.join('')}`,
    )
      .split('\0')
      .slice(0, -1),
  ));

test('Node.js: reads any text as it was written', () =>
  expectToSendTheForm('node', (samples) => Promise.all(samples.map(bodyOfModule))));

/** Runs a module whose import is replaced by an argument. */
async function bodyOfModule(sample: string): Promise<string> {
  const sent: string[] = [];
  class CarillonServer {
    async send(notification: SendRequest) {
      sent.push(JSON.stringify(notification));
    }
  }
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const code = sample.replace("import { CarillonServer } from 'carillon/server';", '');
  await new AsyncFunction('CarillonServer', 'console', code)(CarillonServer, { log() {} });
  return sent.join();
}

const languages: readonly SampleLanguage[] = ['curl', 'node'];

describe.each(languages)('%s', (language) => {
  const sample = codeSample(language, { ...project, notification: { title: 'Doors open' } });

  test('addresses the project, names the send, and reads the secret key from the environment', () => {
    expect(sample).toMatch(/projectId: 'shop'|\/projects\/shop\/notifications'/);
    expect(sample).toMatch(/'https:\/\/push\.example/);
    expect(sample).toMatch(/idempotencyKey|Idempotency-Key/);
    expect(sample).toContain('CARILLON_SECRET_KEY');
  });

  test('asks for a response before the delivery only if the form does', () => {
    const pattern = /Prefer\W+respond-async|respondAsync: true/;
    const notification = { title: 'Doors open' };
    expect(sample).not.toMatch(pattern);
    expect(codeSample(language, { ...project, notification, respondAsync: true })).toMatch(pattern);
  });

  test('has no character that a terminal runs or that shows text in another order', () => {
    const notification = { title: 'a\u001b[2Jb\u007fc\u009bd\u202ee' };
    const hostileSample = codeSample(language, { ...project, notification });
    expect(hostileSample.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });
});
