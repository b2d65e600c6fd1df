import { randomBytes, randomUUID } from 'node:crypto';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { exportedValues, importValues } from '../../fixtures/moved-subscriptions.ts';
import { type Operator, startOperator } from '../../fixtures/operator.ts';
import { rotatedLongAgo } from '../../fixtures/rotated-long-ago.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

let operator: Operator;
let projectId: string;
/** The keys of a project whose key was rotated. */
let previous: string;
let current: string;

beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator.stop());
beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  const { project } = await operator.registry.create({ projectId, random: randomBytes });
  previous = project.vapidPublicKey;
  current = (await operator.registry.rotateVapid(projectId)).vapidPublicKey;
  const { dynamo, tables } = operator.database;
  await rotatedLongAgo(dynamo, tables.PROJECTS_TABLE, projectId);
});

const importAll = (values: readonly unknown[]) => importValues(operator, projectId, values);
const exported = () => exportedValues(operator, projectId);

const withKey = (applicationServerKey: string) => ({
  ...subscriptionJson(),
  applicationServerKey,
});

const countPreviousPair = async () =>
  operator.registry.countPreviousPair((await operator.registry.find(projectId))!);

describe('the application server key of an imported subscription', () => {
  it('keeps the key of each line; without one, a new subscription has the current key', async () => {
    const [old, young, unknown] = [withKey(previous), withKey(current), subscriptionJson()];
    expect((await importAll([old, young, unknown])).report).toMatchObject({ created: 3 });
    const values = await exported();
    for (const value of [old, young, { ...unknown, applicationServerKey: current }]) {
      expect(values).toContainEqual(expect.objectContaining(value));
    }
    expect(await countPreviousPair()).toBe(1);
    expect((await importAll(values)).report).toMatchObject({ unchanged: 3 });
  });

  it('changes the key of a stored subscription only to one that its line has', async () => {
    const [first, second] = [withKey(previous), withKey(previous)];
    await importAll([first, second]);
    const { applicationServerKey, ...withoutKey } = first;
    const changed = { ...withoutKey, keys: subscriptionJson().keys };
    const { report } = await importAll([changed, { ...second, applicationServerKey: current }]);
    expect(report).toMatchObject({ updated: 2 });
    const values = await exported();
    expect(values).toContainEqual(expect.objectContaining({ ...changed, applicationServerKey }));
    expect(values).toContainEqual(
      expect.objectContaining({ ...second, applicationServerKey: current }),
    );
    // And back to the first pair, whose number is not stored.
    expect((await importAll([second])).report).toMatchObject({ updated: 1 });
    expect(await exported()).toContainEqual(expect.objectContaining(second));
  });

  it('skips lines with a key that is not one of the project', async () => {
    const { publicKey } = newVapidPair();
    const { code, report } = await importAll([withKey(publicKey), withKey('x')]);
    expect(code).toBe(1);
    expect(report).toMatchObject({
      created: 0,
      invalid: 2,
      mistakes: [
        {
          line: 1,
          message: 'applicationServerKey must be a key of the project: see carillon show',
        },
        { line: 2, message: expect.stringContaining('applicationServerKey must be base64url') },
      ],
    });
    expect(await exported()).toEqual([]);
  });
});

it('exports no subscription whose key was dropped', async () => {
  await importAll([withKey(previous), withKey(current)]);
  const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
  await operator.registry
    .dropPreviousVapid(projectId, { isForced: true, waiting: interrupted })
    .catch(() => {});
  expect(await exported()).toEqual([expect.objectContaining({ applicationServerKey: current })]);
});
