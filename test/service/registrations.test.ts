import type { DynamoDbCall } from 'aws-emulator/dynamodb-proxy';
import { routes } from '../../contract/wire/routes.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ApiResponse, type ProjectCredentials, useService } from '../fixtures/service.ts';

/** Holds calls to the database until it is settled. */
let held: (call: DynamoDbCall) => Promise<void> | undefined = () => undefined;

const service = useService({
  onDynamoDbCall: async (call) => {
    await held(call);
    return undefined;
  },
});

let project: ProjectCredentials;
beforeEach(async () => {
  project = await service.createProject();
});

function subscribe(browser: SimulatedBrowser, userId: string): Promise<ApiResponse> {
  const body = { ...browser.toJSON(), userId };
  const { projectId } = project;
  return service.call(routes.subscribe, { parameters: { projectId }, body });
}

function unsubscribe({ endpoint }: SimulatedBrowser): Promise<ApiResponse> {
  const query = `?endpoint=${encodeURIComponent(endpoint)}`;
  const { projectId } = project;
  return service.call(routes.unsubscribe, { parameters: { projectId }, query });
}

/** Makes a request whose next call with this operation and text arrives only after the second request has ended. */
async function overtaken(
  [operation, text]: readonly [operation: string, text: string],
  first: () => Promise<ApiResponse>,
  second: () => Promise<ApiResponse>,
): Promise<void> {
  let arrives = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrives = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  held = (call) => {
    const isHeld = call.operation === operation && JSON.stringify(call.parameters).includes(text);
    if (!isHeld) return undefined;
    held = () => undefined;
    arrives();
    return released;
  };
  const overtaken = first();
  await arrived;
  const { status } = await second();
  release();
  expect([status, (await overtaken).status].map((one) => one < 300)).toEqual([true, true]);
}

/** Which of these users a send reaches. */
async function reached(userIds: readonly string[]): Promise<readonly string[]> {
  const { body } = await service.send(project, { title: 'T', userIds });
  return userIds.filter((userId) => !body.usersNotReached?.includes(userId));
}

test.each([
  ['updated', 'UpdateItem', true],
  ['created', 'TransactWriteItems', false],
])('the later of two registrations wins, though the earlier one is %s last', async (...row) => {
  const [, operation, isKnown] = row;
  const browser = service.stack.pushService.subscribe(project);
  if (isKnown) await subscribe(browser, 'nobody');
  await overtaken(
    [operation, '#ann'],
    () => subscribe(browser, 'ann'),
    () => subscribe(browser, 'bob'),
  );
  expect(await reached(['ann', 'bob'])).toEqual(['bob']);
  expect((await subscribe(browser, 'ann')).status).toBe(201);
  expect(await reached(['ann', 'bob'])).toEqual(['ann']);
});

test('a registration stays though an earlier removal arrives after it', async () => {
  const browser = service.stack.pushService.subscribe(project);
  await subscribe(browser, 'eve');
  await overtaken(
    ['TransactWriteItems', 'Delete'],
    () => unsubscribe(browser),
    () => subscribe(browser, 'eve'),
  );
  expect(await reached(['eve'])).toEqual(['eve']);
  await unsubscribe(browser);
  expect(await reached(['eve'])).toEqual([]);
});
