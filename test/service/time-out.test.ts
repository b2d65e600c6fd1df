import { type RouteName, routes } from '../../contract/routes.ts';
import type { DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import type { FunctionLog } from '../../local/lambda/function-instance.ts';
import { readAssembly, resourcesOf } from '../../local/template/template.ts';
import { sharedAssembly, writeAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import {
  type ApiResponse,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const names = Object.keys(routes) as RouteName[];

/** Shorter than the time-outs of database calls, so that a call without a response exceeds it. */
const timeoutSeconds = 2;

let folder: Folder;
let service: Service;
let project: ProjectCredentials;
let isStalled = false;
let notificationId: string;
let responses: ReadonlyMap<RouteName, ApiResponse>;
const log: FunctionLog[] = [];

/** Calls every route while the database does not respond: all at once, because each waits for seconds. */
beforeAll(async () => {
  folder = temporaryFolder();
  service = await startService({
    assembly: assemblyWithTimeout(),
    onDynamoDbCall: (call) => (isStalled ? stall(call) : undefined),
    onLog: (line) => log.push(line),
  });
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
  // With a time-out this short, functions that start at the same time would time out.
  for (const name of names) await call(name);
  log.length = 0;
  isStalled = true;
  const calls = names.map(async (name) => [name, await call(name)] as const);
  responses = new Map(await Promise.all(calls));
  isStalled = false;
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

function call(name: RouteName) {
  return callWithValidRequest(service, project, name, { parameters: { notificationId } });
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
  'send',
  'getUser',
  'removeUser',
];

/** What the function of a route, and Lambda about it, logged. */
function logged(name: RouteName) {
  const logicalId = new RegExp(`^${name}[0-9A-F]{8}$`, 'i');
  return log.filter((line) => logicalId.test(line.function)).map(({ text }) => JSON.parse(text));
}

/** Lambda's reports of invocations that timed out. */
const timeOuts = (name: RouteName) =>
  logged(name).filter(({ type, record }) => type && record.status === 'timeout').length;

test.each(endingInTime)('%s returns 503 before it would time out', (name) => {
  expect(responses.get(name)).toMatchObject({
    status: 503,
    body: { error: { code: 'unavailable' } },
  });
  expect(timeOuts(name)).toBe(0);
});

test.each(names.filter((name) => !endingInTime.includes(name)))(
  '%s times out as an error of Lambda and serves the next request',
  async (name) => {
    const { status, body } = responses.get(name)!;
    expect({ status, body }).toEqual({ status: 500, body: { message: 'Internal Server Error' } });
    expect(timeOuts(name)).toBe(1);
    // The function logs no response.
    expect(logged(name).filter(({ status }) => status === 500)).toEqual([]);
    expect((await call(name)).status).toBeLessThan(300);
  },
);
