import { randomUUID } from 'node:crypto';
import { type DynamoDbHook, errorResponse } from 'aws-emulator/dynamodb-proxy';
import { type Grant, readGrants } from 'aws-emulator/grants';
import { readAssembly } from 'aws-emulator/template';
import { type FunctionName, type RouteName, routes } from '../../contract/wire/routes.ts';
import { divide, slicesOf } from '../../lambdas/send/divide.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { reopen } from '../fixtures/stored-slices.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const grants = readGrants(readAssembly(sharedAssembly).template);

const isOnDynamoDb = ({ action }: Grant) => action.startsWith('dynamodb:');

/** A grant as comparable text, without the account id of its resource. */
const grantText = (caller: string, { action, resource }: Grant) =>
  `${caller} ${action} ${resource.split(':').at(-1)}`;

/** Sends with one `Idempotency-Key`. */
function send(service: Service, project: ProjectCredentials) {
  return service.send(project, { title: 'T' }, { 'idempotency-key': 'order-1' });
}

/** Calls a route of owners that needs no body. */
async function read(service: Service, name: RouteName, project?: ProjectCredentials) {
  const owner = project ?? (await service.createProject());
  const query = name === 'getProject' ? '?sample=subscribers' : '?userId=ada';
  return callWithValidRequest(service, owner, name, { query });
}

/** Calls a route with a notification that was sent, and that is being sent again if it is reopened. */
async function callOfNotification(service: Service, name: RouteName, isReopened = false) {
  const project = await service.createProject();
  const { body } = await send(service, project);
  if (isReopened) await reopen(service, body.id);
  const parameters = { notificationId: body.id };
  return callWithValidRequest(service, project, name, { parameters });
}

/** Creates a project with a subscription that is stored with the wrong key pair. */
async function createProjectWithWrongPair(service: Service): Promise<ProjectCredentials> {
  const project = await service.createProject();
  await service.registry.rotateVapid(project.projectId);
  // With the previous key, which the request does not name.
  await service.subscribe(project);
  return project;
}

/** Subscribes a browser whose next push is repeated when it may have passed to another user. */
async function subscribeSlow(service: Service, project: ProjectCredentials, userId: string) {
  const browser = await service.subscribe(project, userId);
  browser.behave({ status: 503, headers: { 'retry-after': '2' }, times: 1 });
}

async function readAda(service: Service, name: RouteName) {
  const project = await service.createProject();
  await service.subscribe(project, 'ada');
  return read(service, name, project);
}

type Scenario = (service: Service, setHook: (hook?: DynamoDbHook) => void) => Promise<unknown>;

/** Requests with which a function makes all of its database calls. Default: one read of the owner. */
const scenarios: Readonly<Partial<Record<FunctionName, Scenario>>> = {
  async subscribe(service) {
    const project = await service.createProject();
    const browser = await service.subscribe(project);
    const update = { parameters: { ...project }, body: browser.toJSON() };
    // All parts of the counter are full. Of a renewal, that is said last.
    const capped = await service.createProject({ subscriberCap: 0 });
    const renewal = { ...update.body, renewal: true };
    await service.call(routes.subscribe, { parameters: { ...capped }, body: renewal });
    return service.call(routes.subscribe, update);
  },
  async unsubscribe(service) {
    const project = await service.createProject();
    const browser = await service.subscribe(project);
    return callWithValidRequest(service, project, 'unsubscribe', {}, browser);
  },
  async send(service, setHook) {
    const project = await service.createProject();
    const gone = await service.subscribe(project, 'ada');
    gone.unsubscribe();
    // A send that may not have begun is cancelled.
    setHook(({ operation }) => {
      if (operation !== 'TransactWriteItems') return undefined;
      setHook();
      return errorResponse('ValidationException', 'A fault.');
    });
    await send(service, project);
    await send(service, project);
    // A repeated send, with the same idempotency key, which continues it.
    const { body } = await send(service, project);
    await reopen(service, body.id);
    service.stack.freeze(60_000, 'reset');
    await send(service, project);
    await send(service, await createProjectWithWrongPair(service));
    await service.send(project, { title: 'T' }, { prefer: 'respond-async' });
    await subscribeSlow(service, project, 'bob');
    return service.send(project, { title: 'T', userIds: ['bob'] });
  },
  getNotification: (service) => callOfNotification(service, 'getNotification'),
  stopNotification: (service) => callOfNotification(service, 'stopNotification', true),
  track: (service) => callOfNotification(service, 'track'),
  async listNotifications(service) {
    const project = await service.createProject();
    await service.send(project, { title: 'T' });
    return read(service, 'listNotifications', project);
  },
  getUser: (service) => readAda(service, 'getUser'),
  removeUser: (service) => readAda(service, 'removeUser'),
  async deliver(service) {
    // The functions' clock is a minute ahead: they were frozen.
    const sentAt = () => Date.now() + 60_000;
    const project = await service.createProject();
    const gone = await service.subscribe(project, 'ada');
    gone.unsubscribe();
    await subscribeSlow(service, project, 'ada');
    const broadcast = {
      projectId: project.projectId,
      project: project.ref,
      notificationId: randomUUID(),
      sentAt: sentAt(),
      content: { title: 'T' },
      conditions: {},
      extraOrigins: [],
      requestId: 'request',
      eventsUrl: 'https://push.example.com/events',
      expiresAt: 5_000_000_000,
    };
    const [, deliver] = [...service.stack.functions].find(([name]) => name.startsWith('Deliver'))!;
    for (const audience of [{ userIds: ['ada'] }, { subscribers: 1 }]) {
      const [slice] = slicesOf(broadcast, audience, divide(audience, 100, false), 100);
      await deliver.invoke(JSON.stringify(slice), randomUUID());
      // The second invocation finds that another one has had the slice.
      await reopen(service, broadcast.notificationId);
    }
    const { projectId, ref } = await createProjectWithWrongPair(service);
    const audience = { subscribers: 1 };
    const [slice] = slicesOf(
      {
        ...{ ...broadcast, projectId, project: ref, notificationId: randomUUID() },
        sentAt: sentAt(),
      },
      audience,
      divide(audience, 100, false),
      100,
    );
    await deliver.invoke(JSON.stringify(slice), randomUUID());
  },
};

function scenarioOf(name: FunctionName): Scenario {
  return scenarios[name] ?? ((service) => read(service, name as RouteName));
}

test('every grant of the template is used', async () => {
  const used = new Set<string>();
  let hook: DynamoDbHook | undefined;
  // A function without a grant that it needs fails in the tests of what it does.
  const service = await startService({
    onLog: () => {},
    onDynamoDbCall: (call) => {
      for (const need of call.requiredGrants) used.add(grantText(call.caller, need));
      return hook?.(call);
    },
  });
  try {
    const setHook = (next?: DynamoDbHook) => {
      hook = next;
    };
    for (const name of [...everyRoute, 'deliver'] as const) {
      await scenarioOf(name)(service, setHook);
    }
  } finally {
    await service.stop();
  }
  const granted = [...grants].flatMap(([caller, own]) =>
    own.filter(isOnDynamoDb).map((grant) => grantText(caller, grant)),
  );
  expect(granted.length).toBeGreaterThan(10);
  // Each grant is used, and none is listed twice.
  expect(granted.sort()).toEqual([...used].sort());
});
