import { createBrowserKeys } from '../../admin/browser/browser-keys.ts';
import { routes } from '../../contract/routes.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { rotatedLongAgo } from '../fixtures/rotated-long-ago.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { readSubscribers, storeSubscribers } from './fixtures/stored-subscribers.ts';

const size = 1000;
/** Browsers that visit the site at the same time. */
const visitors = 20;

let service: Service;

beforeAll(async () => {
  service = await startService({ throttled: false });
});
afterAll(() => service.stop());

const keys = createBrowserKeys();

/** A person's browser: its subscription, and the one that this replaced. */
interface Person {
  current: SimulatedBrowser;
  earlier?: SimulatedBrowser;
}

/** Visits the site as the SDK does where the page has another key than the subscription. */
async function visit(
  person: Person,
  { projectId }: ProjectCredentials,
  applicationServerKey: string,
): Promise<void> {
  const { current } = person;
  current.unsubscribe();
  person.earlier = current;
  person.current = service.stack.pushService.subscribe({ applicationServerKey, keys });
  const parameters = { projectId };
  const query = `?endpoint=${encodeURIComponent(current.endpoint)}`;
  await service.call(routes.unsubscribe, { parameters, query });
  const body = { ...person.current.toJSON(), applicationServerKey };
  const { status } = await service.call(routes.subscribe, { parameters, body });
  expect(status).toBe(201);
}

/** How often each person has received a notification with this title. */
function received(people: readonly Person[], title: string): number[] {
  return people.map(({ current, earlier }) => {
    const messages = [...current.messages, ...(earlier?.messages ?? [])];
    return messages.filter(({ text }) => JSON.parse(text).notification.title === title).length;
  });
}

const times = (count: number, value: number) => Array<number>(count).fill(value);

test('a rotation of the key pair loses none of 1,000 browsers and notifies none twice', async () => {
  // At its cap: a browser that comes back must not need room for a second subscription.
  const project = await service.createProject({ subscriberCap: size });
  const { applicationServerKey, projectId, ref } = project;
  const people = Array.from(
    { length: size },
    (): Person => ({
      current: service.stack.pushService.subscribe({ applicationServerKey, keys }),
    }),
  );
  const { tables } = service.stack.dynamodb;
  await storeSubscribers(
    service.dynamo,
    tables,
    ref,
    people.map(({ current }) => current),
  );
  const [comingBack, staying] = [people.slice(0, size / 2), people.slice(size / 2)];
  const send = async (title: string) => {
    const { status, body } = await service.send(project, { title });
    expect(status).toBe(201);
    expect(body.attempted).toBe(body.delivered + body.removed + body.failed);
    return body;
  };

  expect(await send('before')).toMatchObject({ delivered: size });
  const { vapidPublicKey: newKey } = await service.registry.rotateVapid(projectId);
  expect(await send('rotated')).toMatchObject({ delivered: size });
  expect(received(people, 'rotated')).toEqual(times(size, 1));

  const queue = comingBack.values();
  const visiting = Array.from({ length: visitors }, async () => {
    for (const person of queue) await visit(person, project, newKey);
  });
  const during = await send('during');
  await Promise.all(visiting);
  expect(during.failed).toBe(0);
  expect(received(staying, 'during')).toEqual(times(size / 2, 1));
  expect(Math.max(...received(comingBack, 'during'))).toBeLessThanOrEqual(1);

  expect(await send('after')).toMatchObject({ attempted: size, delivered: size });
  expect(received(people, 'after')).toEqual(times(size, 1));
  const rotated = (await service.registry.find(projectId))!;
  expect(await service.registry.countPreviousPair(rotated)).toBe(size / 2);

  await rotatedLongAgo(service.dynamo, tables.PROJECTS_TABLE, projectId);
  await service.registry.dropPreviousVapid(projectId, {
    isForced: true,
    waiting: { sleep: async () => {}, onWait: () => {} },
  });
  expect(await send('dropped')).toMatchObject({ attempted: size / 2, delivered: size / 2 });
  expect(received(comingBack, 'dropped')).toEqual(times(size / 2, 1));
  const { stored, counted } = await readSubscribers(service.dynamo, tables, ref);
  expect({ stored, counted }).toEqual({ stored: size / 2, counted: size / 2 });

  // Who comes back later is subscribed again.
  await visit(staying[0]!, project, newKey);
  expect(await send('at last')).toMatchObject({ delivered: size / 2 + 1 });
  expect(received(people, 'at last')).toEqual([
    ...times(size / 2 + 1, 1),
    ...times(size / 2 - 1, 0),
  ]);
});
