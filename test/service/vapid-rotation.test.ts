import { routes } from '../../contract/wire/routes.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { rotatedLongAgo } from '../fixtures/rotated-long-ago.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const service = useService();

const noWaiting = { sleep: async () => {}, onWait: () => {} };

/** Creates a project that all functions remember with its first pair, and rotates that. */
async function rotatedProject() {
  const project = await service.createProject();
  const early = await service.subscribe(project);
  await service.send(project, { title: 'Before' });
  const { vapidPublicKey } = await service.registry.rotateVapid(project.projectId);
  return { project, early, newKey: vapidPublicKey, oldKey: project.applicationServerKey };
}

/** Subscribes a browser that was made with a key. @param named the key that the request names. */
async function subscribe(
  { projectId }: ProjectCredentials,
  applicationServerKey: string,
  named = applicationServerKey,
) {
  const browser = service.stack.pushService.subscribe({ applicationServerKey });
  const response = await service.call(routes.subscribe, {
    parameters: { projectId },
    body: { ...browser.toJSON(), applicationServerKey: named },
  });
  return { browser, response };
}

/** The keys with which the messages of a browser were signed. */
const signedWith = ({ messages }: SimulatedBrowser) =>
  messages.map(({ headers }) => /k=([\w-]+)/.exec(headers.authorization!)![1]);

test('right after a rotation, browsers of both keys subscribe and get each send once', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const old = await subscribe(project, oldKey);
  const young = await subscribe(project, newKey);
  expect([old.response.status, young.response.status]).toEqual([201, 201]);
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 3, delivered: 3, failed: 0 });
  expect(signedWith(early)).toEqual([oldKey, oldKey]);
  expect(signedWith(old.browser)).toEqual([oldKey]);
  expect(signedWith(young.browser)).toEqual([newKey]);
});

test('the key may be base64', async () => {
  const { project, newKey } = await rotatedProject();
  const base64 = Buffer.from(newKey, 'base64url').toString('base64');
  const { browser, response } = await subscribe(project, newKey, base64);
  expect(response.status).toBe(201);
  await service.send(project, { title: 'After' });
  expect(signedWith(browser)).toEqual([newKey]);
});

test('a key that the project does not have is refused and nothing is stored', async () => {
  const project = await service.createProject();
  const { applicationServerKey } = await service.createProject();
  const { response } = await subscribe(project, applicationServerKey);
  expect(response).toMatchObject({
    status: 409,
    body: { error: { code: 'application_server_key_unknown' } },
  });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 0 });
});

test('an update keeps the pair of a known endpoint, with its key and without', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const { projectId } = project;
  // Makes the function read the project again, so that it would assume the new pair.
  await subscribe(project, newKey);
  for (const applicationServerKey of [undefined, oldKey]) {
    const body = { ...early.toJSON(), applicationServerKey };
    await callWithValidRequest(service, project, 'subscribe', { body });
    const rotated = await service.registry.find(projectId);
    expect(await service.registry.countPreviousPair(rotated!)).toBe(1);
  }
});

test('a subscription whose key is not named is delivered with the other pair, and corrected', async () => {
  const { project, oldKey, newKey } = await rotatedProject();
  const { projectId } = project;
  await subscribe(project, newKey);
  const browser = service.stack.pushService.subscribe({ applicationServerKey: oldKey });
  await callWithValidRequest(service, project, 'subscribe', {}, browser);
  const rotated = (await service.registry.find(projectId))!;
  expect(await service.registry.countPreviousPair(rotated)).toBe(1);
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 3, delivered: 3 });
  expect(signedWith(browser)).toEqual([oldKey]);
  expect(await service.registry.countPreviousPair(rotated)).toBe(2);
});

test('after the previous pair is dropped, its subscribers are removed and its key is refused', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const { browser } = await subscribe(project, newKey);
  const options = { isForced: true, waiting: noWaiting };
  const { PROJECTS_TABLE } = service.stack.dynamodb.tables;
  await rotatedLongAgo(service.dynamo, PROJECTS_TABLE!, project.projectId);
  expect(await service.registry.dropPreviousVapid(project.projectId, options)).toBe(1);
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1 });
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 1, delivered: 1 });
  expect(signedWith(browser)).toEqual([newKey]);
  expect(early.messages).toHaveLength(1);
  const next = await service.registry.rotateVapid(project.projectId);
  // Reads the project again: only then does this function know that the old key is dropped.
  expect((await subscribe(project, next.vapidPublicKey)).response.status).toBe(201);
  expect((await subscribe(project, oldKey)).response.status).toBe(409);
});
