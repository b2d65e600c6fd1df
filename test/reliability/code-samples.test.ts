import {
  codeSample,
  type SampleLanguage,
  sampleLanguages,
} from '../../console/page/code-samples.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';
import { type NpmProject, newNpmProject } from '../fixtures/npm-project.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { type Fault, startFaultyGateway } from './fixtures/faulty-gateway.ts';
import { canRun, languages, run, writeProgram } from './fixtures/languages.ts';

/** Ends literals and comments of every language, and starts expansions, if a sample lets it. */
const hostileText =
  `It's "quoted" \\ \\" \\' \\n \\u0041 $HOME \${HOME} {$a} #{a} %s !! ''' """ \`id\` $(id) // /* */ # ; ?> <?php` +
  '\nJSON;\nJSON\n\r\t\0\u001b[2J\u007f\u0085\u2028\u202e\ufeff 👩‍👩‍👧 é true null __proto__';

const notification: SendRequest = {
  title: hostileText,
  body: `-${hostileText}`,
  url: "https://shop.example/it's?a=$b&c=`d`",
  silent: false,
  actions: [{ action: "it's", title: hostileText.slice(0, 64) }],
  userIds: [hostileText],
  seenWithinDays: 1,
  data: { [hostileText]: hostileText, '0': [], none: {}, n: null },
};

let service: Service;
let folder: NpmProject;

beforeAll(async () => {
  service = await startService();
  folder = await newNpmProject();
});
afterAll(async () => {
  folder.remove();
  await service.stop();
});

/** Runs the sample for a project with one browser, through a gateway with faults. */
async function runSample(
  name: SampleLanguage,
  respondAsync: boolean,
  faults: readonly Fault[] = [],
) {
  const language = languages[name];
  const project = await service.createProject();
  const browser = await service.subscribe(project, hostileText);
  const gateway = await startFaultyGateway(service.stack.baseUrl, faults);
  const { projectId, secretKey } = project;
  const send = { baseUrl: gateway.origin, projectId, notification, respondAsync };
  try {
    writeProgram(language, folder, codeSample(name, send));
    const output = await run(language.run, folder, { CARILLON_SECRET_KEY: secretKey });
    return { ...output, requests: gateway.requests, browser };
  } finally {
    await gateway.stop();
  }
}

describe.each(Object.keys(sampleLanguages) as SampleLanguage[])('the sample for %s', (name) => {
  const language = languages[name];
  const testIfAvailable = canRun(language) ? test : test.skip;

  testIfAvailable.each([
    ['', false],
    [' and responds before the delivery', true],
  ])('sends exactly what the form has, whatever its text is%s', async (_, respondAsync) => {
    const { succeeded, stdout, stderr, requests, browser } = await runSample(name, respondAsync);
    expect({ succeeded, stderr }).toEqual({ succeeded: true, stderr: '' });
    expect(stdout).toContain(respondAsync ? '"sending"' : '"delivered":1');
    expect(JSON.parse(requests[0]!.body)).toEqual(notification);
    expect(requests[0]!.headers['idempotency-key']).toMatch(/^[0-9a-f-]{32,36}$/);
    const { text } = await browser.nextMessage();
    const { title, body, data } = JSON.parse(text).notification;
    expect({ title, body, data: data.data }).toEqual({
      title: notification.title,
      body: notification.body,
      data: notification.data,
    });
  });

  testIfAvailable.each([302, 307] as const)(
    'a redirect with %i ends it: the secret key goes nowhere else',
    async (redirect) => {
      const { succeeded, requests } = await runSample(name, false, [{ redirect }]);
      expect({ succeeded, attempts: requests.length }).toEqual({ succeeded: false, attempts: 1 });
    },
  );

  testIfAvailable('fails with the error of the service', async () => {
    const { succeeded, stdout, stderr } = await runSample(name, false, [{ code: 'unauthorized' }]);
    expect(succeeded).toBe(false);
    expect(stdout + stderr).toContain('unauthorized');
  });
});
