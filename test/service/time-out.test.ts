import { type RouteName, routes } from '../../contract/routes.ts';
import type { DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { readAssembly, resourcesOf } from '../../local/template/template.ts';
import { sharedAssembly, writeAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

/** Seconds. A call to the database may take longer, so that the function runs out of time. */
const timeoutSeconds = 1;

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

function assemblyWithTimeout(): string {
  const assembly = readAssembly(sharedAssembly());
  const template = structuredClone(assembly.template);
  for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
    (Properties as { Timeout: number }).Timeout = timeoutSeconds;
  }
  return writeAssembly(folder, template, assembly);
}

function call(name: RouteName, notificationId: string) {
  const { endpoint, keys } = service.stack.pushService.subscribe().toJSON();
  const { projectId, secretKey } = project;
  const requests = {
    subscribe: { body: { endpoint, keys } },
    unsubscribe: { query: `?endpoint=${encodeURIComponent(endpoint)}` },
    send: { body: { title: 'T' } },
    track: { body: { type: 'shown' } },
  };
  return service.call<unknown>(routes[name], {
    parameters: { projectId, notificationId },
    headers: { authorization: `Bearer ${secretKey}` },
    ...requests[name],
  });
}

test.each(Object.keys(routes) as RouteName[])(
  '%s fails visibly for Lambda when it runs out of time, and answers the next request',
  async (name) => {
    const { body } = await service.send(project, { title: 'T' });
    // The chain before the use case goes on: what hangs is the use case.
    hook = ({ needs }) =>
      needs.some(({ resource }) => /RateLimits|ProjectsTable/.test(resource))
        ? undefined
        : 'no answer';
    const late = await call(name, body.id);
    expect({ status: late.status, body: late.body }).toEqual({
      status: 500,
      body: { message: 'Internal Server Error' },
    });
    expect(log.filter((text) => text.includes('Task timed out after 1.00 seconds'))).toHaveLength(
      1,
    );
    // Nothing of the request is logged as answered.
    expect(log.filter((text) => text.includes('"status":500'))).toEqual([]);
    hook = undefined;
    expect((await call(name, body.id)).status).toBeLessThan(300);
  },
);
