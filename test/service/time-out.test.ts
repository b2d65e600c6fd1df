import type { DynamoDbHook } from 'aws-emulator/dynamodb-proxy';
import type { FunctionLog } from 'aws-emulator/function-pool';
import { readAssembly, resourcesOf } from 'aws-emulator/template';
import type { RouteName } from '../../contract/wire/routes.ts';
import { sharedAssembly, writeAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import {
  type ApiResponse,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** Shorter than the time-outs of database calls, so that a call without a response exceeds it. */
const timeoutSeconds = 2;

let folder: Folder;
let service: Service;
let project: ProjectCredentials;
let hook: DynamoDbHook = () => undefined;
let notificationId: string;
const responses = new Map<RouteName, ApiResponse>();
const log: FunctionLog[] = [];

/**
 * Calls every route while the database does not respond: in turn, because functions that end at the same
 * time are late on a busy machine.
 */
beforeAll(async () => {
  folder = temporaryFolder();
  service = await startService({
    assembly: assemblyWithTimeout(),
    onDynamoDbCall: (call) => hook(call),
    onLog: (line) => log.push(line),
  });
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
  // With a time-out this short, functions that start at the same time would time out.
  for (const name of everyRoute) await call(name);
  log.length = 0;
  hook = stall;
  for (const name of everyRoute) responses.set(name, await call(name));
  hook = () => undefined;
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

function call(name: RouteName) {
  return callWithValidRequest(service, project, name, { parameters: { notificationId } });
}

function assemblyWithTimeout(): string {
  const assembly = readAssembly(sharedAssembly);
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

/** What the function of a route, and Lambda about it, logged. */
function logged(name: RouteName) {
  const logicalId = new RegExp(`^${name}[0-9A-F]{8}$`, 'i');
  return log.filter((line) => logicalId.test(line.function)).map(({ text }) => JSON.parse(text));
}

/** Lambda's reports of invocations that timed out. */
const timeOuts = (name: RouteName) =>
  logged(name).filter(({ type, record }) => type && record.status === 'timeout').length;

test.each(everyRoute)('%s returns 503 before it would time out', (name) => {
  expect(responses.get(name)).toMatchObject({
    status: 503,
    body: { error: { code: 'unavailable' } },
  });
  expect(timeOuts(name)).toBe(0);
});

test('a function that times out is an error of Lambda, and serves the next request', async () => {
  log.length = 0;
  // From its first write on, send relies on the longer time-out with which it is deployed.
  hook = ({ operation }) => (operation === 'TransactWriteItems' ? 'no response' : undefined);
  const { status, body } = await call('send');
  hook = () => undefined;
  expect({ status, body }).toEqual({ status: 500, body: { message: 'Internal Server Error' } });
  expect(timeOuts('send')).toBe(1);
  // The function logs no response.
  expect(logged('send').filter(({ status }) => status === 500)).toEqual([]);
  expect((await call('send')).status).toBeLessThan(300);
});
