import { readFileSync } from 'node:fs';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { codeIn } from '../fixtures/documented-example.ts';
import { type NpmProject, newNpmProject } from '../fixtures/npm-project.ts';
import { canRun, type Language, languages, run, writeProgram } from './fixtures/languages.ts';

const document = 'docs/user-ids.md';
const listings = 'docs/sending.md';

/** The program that signs: beside the one that sends. */
function signerIn({ sender }: Language): string {
  if (sender !== undefined) return readFileSync(sender.replace('/send.', '/sign.'), 'utf8');
  return codeIn(listings, 'js').find((code) => code.includes('CARILLON_IDENTITY_KEY'))!;
}

describe('the documented examples sign a user id as the service expects it', () => {
  /** The rows of the test vector: the key, the user id and its signature. */
  const rows = readFileSync(document, 'utf8').matchAll(
    /^\| (.*) \| `(.+?)`.* \| `([\w-]{43})` \|$/gm,
  );
  const vector = [...rows].map(([, , userId, signature]) => ({ userId: userId!, signature }));
  const [identityKey] = /carillon_id_[\w-]{43}/.exec(readFileSync(document, 'utf8'))!;

  let folder: NpmProject;
  beforeAll(async () => {
    folder = await newNpmProject();
  });
  afterAll(() => folder.remove());

  test('test vector', () => {
    expect(vector.map(({ userId }) => userId)).toEqual(['ada', 'zoë/42']);
    for (const { userId, signature } of vector) {
      expect(signUserId(identityKey, userId)).toBe(signature);
    }
  });

  for (const language of Object.values<Language>(languages)) {
    // Those that cannot run here are named as skipped.
    const testIfAvailable = canRun(language) ? test : test.skip;

    testIfAvailable(language.name, async () => {
      const program = signerIn(language);
      for (const { userId, signature } of vector) {
        writeProgram(language, folder, program.replace('zoë/42', userId));
        const { stdout, stderr } = await run(language.run, folder, {
          // Its file ends with a line break; Node.js says which key is wrong.
          CARILLON_IDENTITY_KEY: language.sender === undefined ? identityKey : `${identityKey}\n`,
        });
        expect({ signature: stdout.trim(), stderr }).toEqual({ signature, stderr: '' });
      }
    });
  }
});
