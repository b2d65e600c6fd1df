import { type Database, startDatabase } from '../../fixtures/database.ts';
import { claimFirstShare, newNotification, sendsOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const sends = () => sendsOf(database);

describe('a request with an idempotency key', () => {
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };

  test('begins once, even if 20 arrive at the same time', async () => {
    const projectId = await database.createProject();
    const notifications = Array.from({ length: 20 }, () => ({
      ...newNotification(projectId),
      idempotency,
    }));
    const outcomes = await Promise.all(notifications.map((one) => sends().begin(one, 10)));
    expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'repeated')).toHaveLength(19);
    expect(await database.usage(projectId, '2126-11')).toBe(1);
  });

  test('is found with its notification as it was sent', async () => {
    const projectId = await database.createProject();
    const division = { users: 2, shares: 1, talliesPerShare: 1, respondedAsync: true };
    const begun = { ...newNotification(projectId), division, idempotency };
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
    await sends().begin(begun, 10);
    expect(await sends().earlier(projectId, 'a1')).toEqual({
      requestHash: 'b2',
      notification: {
        id: begun.id,
        content: { title: 'T', url: 'https://example.com/' },
        division,
        sentAt: begun.sentAt,
      },
    });
  });

  test('is recognised for 24 hours, at the cap too', async () => {
    const projectId = await database.createProject();
    const at = (time: string) => ({ ...newNotification(projectId, time), idempotency });
    expect(await sends().begin(at('2126-11-20T12:00:00Z'), 1)).toBe('begun');
    expect(await sends().begin(at('2126-11-21T11:59:59Z'), 1)).toBe('repeated');
    expect(await sends().begin(at('2126-11-21T12:00:00Z'), 2)).toBe('begun');
  });

  test('may begin again after it was cancelled', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
    expect(await sends().begin({ ...newNotification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('is cancelled only by the request that claimed its delivery', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'r1');
    await sends().cancel(begun, 'r2');
    expect(await database.usage(projectId, '2126-11')).toBe(1);
    expect(await sends().earlier(projectId, 'a1')).toBeDefined();
    await sends().cancel(begun, 'r1');
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
  });

  test('does not affect the same key in another project', async () => {
    const [one, other] = [await database.createProject(), await database.createProject()];
    await sends().begin({ ...newNotification(one), idempotency }, 10);
    expect(await sends().begin({ ...newNotification(other), idempotency }, 10)).toBe('begun');
  });
});
