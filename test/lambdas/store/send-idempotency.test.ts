import { type Database, startDatabase } from '../../fixtures/database.ts';
import { newNotification, sendsOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const sends = () => sendsOf(database);

describe('a request with an idempotency key', () => {
  const by = (requestId: string) => ({ requestId, at: new Date('2126-11-20T12:00:01Z') });
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

  test('is found with its claim and its result', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
    await sends().begin(begun, 10);
    const { requestHash } = idempotency;
    const begunOnly = { id: begun.id, requestHash, sentAt: begun.sentAt };
    expect(await sends().earlier(projectId, 'a1')).toEqual(begunOnly);
    const claim = by('r');
    await sends().claim(begun, claim);
    const earlier = { ...begunOnly, claimedAt: claim.at };
    expect(await sends().earlier(projectId, 'a1')).toEqual(earlier);
    const result = { id: begun.id, attempted: 3, delivered: 1, removed: 1, failed: 1 };
    await sends().finish(projectId, result);
    expect(await sends().earlier(projectId, 'a1')).toEqual({ ...earlier, result });
  });

  test('is recognised for 24 hours, at the cap too', async () => {
    const projectId = await database.createProject();
    const at = (time: string) => ({ ...newNotification(projectId, time), idempotency });
    expect(await sends().begin(at('2126-11-20T12:00:00Z'), 1)).toBe('begun');
    expect(await sends().begin(at('2126-11-21T11:59:59Z'), 1)).toBe('repeated');
    expect(await sends().begin(at('2126-11-21T12:00:00Z'), 2)).toBe('begun');
  });

  test('may begin again after a release', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().release(begun, 'r');
    expect(await sends().begin({ ...newNotification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('is claimed by one request, which may repeat the claim', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    const claims = await Promise.all(['r1', 'r2', 'r3'].map((id) => sends().claim(begun, by(id))));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const winner = `r${claims.indexOf(true) + 1}`;
    expect(await sends().claim(begun, by(winner))).toBe(true);
    expect(await sends().claim(begun, by('r4'))).toBe(false);
  });

  test('cannot be claimed before it begins', async () => {
    const projectId = await database.createProject();
    expect(await sends().claim(newNotification(projectId), by('r'))).toBe(false);
  });

  test('is released only by the request that claimed it', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().claim(begun, by('r1'));
    expect(await sends().release(begun, 'r2')).toBe(true);
    await sends().cancel(begun, 'r2');
    expect(await database.usage(projectId, '2126-11')).toBe(1);
    expect(await sends().release(begun, 'r1')).toBe(true);
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().release(begun, 'r1')).toBe(false);
  });

  test('does not affect the same key in another project', async () => {
    const [one, other] = [await database.createProject(), await database.createProject()];
    await sends().begin({ ...newNotification(one), idempotency }, 10);
    expect(await sends().begin({ ...newNotification(other), idempotency }, 10)).toBe('begun');
  });
});
