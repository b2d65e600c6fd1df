import { type RouteName, routes } from '../../contract/routes.ts';
import type { DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { readAssembly, resourcesOf } from '../../local/template/template.ts';
import { sharedAssembly, writeAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** Shorter than the time-outs of database calls, so that a call without a response exceeds it. */
const timeoutSeconds = 2;

let folder: Folder;
let service: Service;
let project: ProjectCredentials;
let hook: DynamoDbHook | undefined;
const log: string[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startService({
    assembly: assemblyWithTimeout(),
    onDynamoDbCall: (call) => hook?.(call),
    onLog: ({ text }) => log.push(text),
  });
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});
beforeEach(async () => {
  hook = undefined;
  log.length = 0;
  project = await service.createProject();
});

/** Lambda's reports of invocations that timed out. */
function timeOuts(): number {
  const lines = log.map((text) => JSON.parse(text));
  return lines.filter(({ type, record }) => type && record.status === 'timeout').length;
}

function assemblyWithTimeout(): string {
  const assembly = readAssembly(sharedAssembly());
  const template = structuredClone(assembly.template);
  for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
    (Properties as { Timeout: number }).Timeout = timeoutSeconds;
  }
  return writeAssembly(folder, template, assembly);
}

/** Calls of the chain get a response, calls of the use case do not. */
const stall: DynamoDbHook = ({ requiredGrants }) =>
  requiredGrants.some(({ resource }) => /RateLimits|ProjectsTable/.test(resource))
    ? undefined
    : 'no response';

/** They make several calls that may each take long, so they end before their time is over. */
const endingInTime: readonly RouteName[] = [
  'subscribe',
  'unsubscribe',
  'track',
  'getUser',
  'removeUser',
];

test.each(endingInTime)('%s returns 503 before it would time out', async (name) => {
  const { body } = await service.send(project, { title: 'T' });
  hook = stall;
  const parameters = { notificationId: body.id };
  const response = await callWithValidRequest(service, project, name, { parameters });
  expect(response).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
  expect(timeOuts()).toBe(0);
});

const timingOut = Object.keys(routes) as RouteName[];
test.each(timingOut.filter((name) => !endingInTime.includes(name)))(
  '%s times out as an error of Lambda and serves the next request',
  async (name) => {
    const { body } = await service.send(project, { title: 'T' });
    hook = stall;
    const parameters = { notificationId: body.id };
    const timedOut = await callWithValidRequest(service, project, name, { parameters });
    expect({ status: timedOut.status, body: timedOut.body }).toEqual({
      status: 500,
      body: { message: 'Internal Server Error' },
    });
    expect(timeOuts()).toBe(1);
    // The function logs no response.
    expect(log.filter((text) => text.includes('"status":500'))).toEqual([]);
    hook = undefined;
    const next = await callWithValidRequest(service, project, name, { parameters });
    expect(next.status).toBeLessThan(300);
  },
);
