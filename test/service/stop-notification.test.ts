import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { NotificationList, NotificationResult } from '../../contract/wire/notification.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** The first push of a notification is at least 10 s before its last one. */
const browsersOfAudience = 50;
const pushesPerSecond = 5;

const service = useService({ environment: { PUSHES_PER_SECOND: String(pushesPerSecond) } });

function call<Body>(
  project: ProjectCredentials,
  name: 'getNotification' | 'stopNotification',
  notificationId: string,
) {
  const parameters = { notificationId };
  return callWithValidRequest<Body>(service, project, name, { parameters });
}

const stop = (project: ProjectCredentials, id: string) =>
  call<NotificationResult>(project, 'stopNotification', id);

async function newestId(project: ProjectCredentials): Promise<string> {
  return until('the notification is listed', async () => {
    const { body } = await callWithValidRequest<NotificationList>(
      service,
      project,
      'listNotifications',
      { query: '?limit=1' },
    );
    return body.notifications[0]?.id;
  });
}

/** A project with subscriptions of the users `u0`, `u1` and so on. */
async function newProject(subscriptions: number) {
  const project = await service.createProject({ subscriberCap: null });
  const browsers = await Promise.all(
    Array.from({ length: subscriptions }, (_, index) => service.subscribe(project, `u${index}`)),
  );
  return { project, browsers };
}

const received = (browsers: readonly SimulatedBrowser[]) =>
  browsers.reduce((sum, { messages }) => sum + messages.length, 0);

/** Stops the newest notification when some pushes have arrived. @returns the notification at its end. */
async function stopAfterSomePushes(
  project: ProjectCredentials,
  browsers: readonly SimulatedBrowser[],
) {
  const arrivedAt: number[] = [];
  for (const browser of browsers) {
    const deliver = browser.deliver.bind(browser);
    browser.deliver = (message) => {
      arrivedAt.push(Date.now());
      deliver(message);
    };
  }
  const id = await newestId(project);
  await until('some pushes arrive', () => arrivedAt.length >= 3);
  const { status, body } = await stop(project, id);
  const respondedAt = Date.now();
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, status: 'stopping' });
  expect(body).not.toHaveProperty('unreached');
  const ended = await until('the notification is stopped', async () => {
    const read = await call<NotificationResult>(project, 'getNotification', id);
    return read.body.status === 'stopping' ? undefined : read.body;
  });
  expect(Math.max(...arrivedAt) - respondedAt).toBeLessThan(sliceTimeline.lastPushAfterStopMs);
  return ended;
}

/** Who was pushed to is counted, and nobody was twice. */
function expectStopped(notification: NotificationResult, browsers: readonly SimulatedBrowser[]) {
  const { status, attempted, delivered, failed, removed, unreached } = notification;
  expect({ status, failed, removed }).toEqual({ status: 'stopped', failed: 0, removed: 0 });
  expect(delivered).toBe(received(browsers));
  expect(delivered).toBeGreaterThanOrEqual(3);
  expect(unreached).toBeGreaterThan(0);
  // Of user ids, those of a function that had not begun are not counted.
  const missing = browsers.length - attempted;
  expect(unreached).toBeLessThanOrEqual(missing);
  if (notification.audience === 'everyone') expect(unreached).toBe(missing);
  expect(browsers.every(({ messages }) => messages.length <= 1)).toBe(true);
}

test.concurrent('the request that waits gets its final counts as stopped, and its repetition sends nothing', async () => {
  const { project, browsers } = await newProject(browsersOfAudience);
  const key = { 'idempotency-key': 'order-1' };
  const sending = service.send(project, { title: 'T' }, key);
  const stopped = await stopAfterSomePushes(project, browsers);
  expectStopped(stopped, browsers);
  const { status, body } = await sending;
  const { id, attempted, delivered, unreached } = stopped;
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { id, attempted, delivered, unreached, status: 'stopped' },
  });
  const repeated = await service.send(project, { title: 'T' }, key);
  expect({ status: repeated.status, body: repeated.body }).toEqual({ status: 201, body });
  expect(received(browsers)).toBe(delivered);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
  // A stop of a stopped notification changes nothing.
  expect((await stop(project, id)).body).toEqual(stopped);
});

test.concurrent('an asynchronous broadcast ends, and its repetition is told so', async () => {
  const { project, browsers } = await newProject(browsersOfAudience);
  const headers = { 'idempotency-key': 'order-1', prefer: 'respond-async' };
  const sent = await service.send(project, { title: 'T' }, headers);
  expect(sent).toMatchObject({ status: 202, body: { status: 'sending' } });
  const stopped = await stopAfterSomePushes(project, browsers);
  expectStopped(stopped, browsers);
  const repeated = await service.send(project, { title: 'T' }, headers);
  expect(repeated).toMatchObject({ status: 202, body: { id: stopped.id, status: 'stopped' } });
  expect(received(browsers)).toBe(stopped.delivered);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
});

test('a notification that was sent is returned as it is', async () => {
  const { project } = await newProject(1);
  const { body } = await service.send(project, { title: 'T' });
  const before = await call<NotificationResult>(project, 'getNotification', body.id);
  expect(before.body.status).toBe('sent');
  const stopped = await stop(project, body.id);
  expect({ status: stopped.status, body: stopped.body }).toEqual({
    status: 200,
    body: before.body,
  });
});
