import { randomBytes, randomUUID } from 'node:crypto';
import { identityKeyPattern } from '../../../contract/formats.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { type Operator, startOperator } from '../../fixtures/operator.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

let operator: Operator;
let projectId: string;
/** The first identity key of the project. */
let identityKey: string;

beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator.stop());
beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  ({ identityKey } = await operator.registry.create({ projectId, random: randomBytes }));
});

const dayMs = 24 * 60 * 60_000;

/** Expects a time this many ms from now, within a minute. */
function expectFromNow(iso: string, ms: number): void {
  expect(Math.abs(Date.parse(iso) - Date.now() - ms)).toBeLessThan(60_000);
}

describe('create', () => {
  it('prints the identity key, and that user ids are open', async () => {
    const created = await operator.runJson(['create', `${projectId}-2`]);
    expect(created).toMatchObject({
      userIds: 'open',
      identityKey: expect.stringMatching(identityKeyPattern),
    });
    const { output } = await operator.runLocal(['create', `${projectId}-3`]);
    expect(output).toMatch(/Identity key +carillon_id_/);
  });

  it('creates a project that requires signatures', async () => {
    const created = await operator.runJson(['create', `${projectId}-2`, '--user-ids', 'signed']);
    expect(created.userIds).toBe('signed');
  });

  it('refuses another way of user ids', async () => {
    const { code, messages } = await operator.runLocal(['create', 'x', '--user-ids', 'secret']);
    expect(code).toBe(2);
    expect(messages).toContain('Allowed choices are open, signed.');
  });
});

describe('set-plan --user-ids', () => {
  it('requires signatures, and says what happens to user ids that are claimed', async () => {
    const { code, output } = await operator.runLocal(['set-plan', projectId, '--user-ids=signed']);
    expect(code).toBe(0);
    expect(output).toMatch(/User ids +signed\n/);
    expect(output).toContain('Subscriptions that already have a user id\nkeep it');
    expect(output).toContain(`carillon -- users delete ${projectId} <userId> --local\n`);
    expect(await operator.registry.find(projectId)).toMatchObject({ userIds: 'signed', plan: {} });
  });

  it('changes limits at the same time, and back to open without a note', async () => {
    const both = ['--user-ids=signed', '--subscriber-cap=7'];
    const changed = await operator.runJson(['set-plan', projectId, ...both]);
    expect(changed).toMatchObject({ userIds: 'signed', plan: { subscriberCap: 7 } });
    const { output } = await operator.runLocal(['set-plan', projectId, '--user-ids=open']);
    expect(output).toMatch(/User ids +open\n/);
    expect(output).not.toContain('users delete');
    const { userIds, plan } = (await operator.registry.find(projectId))!;
    expect({ userIds, plan }).toEqual({ userIds: 'open', plan: { subscriberCap: 7 } });
  });

  it('creates no project for an unknown id', async () => {
    const { code } = await operator.runLocal(['set-plan', 'unknown', '--user-ids', 'signed']);
    expect(code).toBe(1);
    expect(await operator.registry.find('unknown')).toBeUndefined();
  });
});

describe('show and list', () => {
  it.each(['show', 'list'])('%s tells whether user ids need a signature', async (command) => {
    await operator.registry.setUserIds(projectId, 'signed');
    const args = command === 'show' ? [command, projectId] : [command];
    const { output } = await operator.runLocal(args);
    expect(output).toMatch(
      command === 'show' ? /User ids +signed\n/ : new RegExp(`${projectId} .* signed `),
    );
    const printed = await operator.runJson(args);
    expect([printed].flat()).toContainEqual(
      expect.objectContaining({ projectId, userIds: 'signed' }),
    );
  });

  it.each(['show', 'list'])('%s prints no identity key', async (command) => {
    await operator.registry.rotateIdentityKey(projectId, randomBytes, dayMs);
    const args = command === 'show' ? [command, projectId] : [command];
    for (const output of [[], ['--json']]) {
      expect((await operator.runLocal([...args, ...output])).output).not.toContain('carillon_id_');
    }
  });
});

test('an import needs no signatures', async () => {
  await operator.registry.setUserIds(projectId, 'signed');
  const values = [subscriptionJson({ userId: 'ada' })];
  expect(await importValues(operator, projectId, values)).toMatchObject({
    code: 0,
    report: { created: 1 },
  });
});

describe('identity-key', () => {
  it('prints the key', async () => {
    const { output } = await operator.runLocal(['identity-key', projectId]);
    expect(output).toBe(`${identityKey}\n`);
    expect(await operator.runJson(['identity-key', projectId])).toEqual({ projectId, identityKey });
  });

  it('fails for an unknown project', async () => {
    const { code, messages } = await operator.runLocal(['identity-key', 'unknown']);
    expect({ code, messages }).toEqual({
      code: 1,
      messages:
        'Project "unknown" does not exist. See all with: npm run -s carillon -- list --local\n',
    });
  });
});

describe('rotate-identity-key', () => {
  it('keeps the previous key for 30 days', async () => {
    const rotated = await operator.runJson(['rotate-identity-key', projectId]);
    expect(rotated.identityKey).toMatch(identityKeyPattern);
    expect(rotated.identityKey).not.toBe(identityKey);
    expectFromNow(rotated.previousIdentityKeyUntil, 30 * dayMs);
    expect(await operator.registry.identityKey(projectId)).toBe(rotated.identityKey);
    const { output } = await operator.runLocal(['show', projectId]);
    expect(output).toContain(
      `Previous id key until     ${rotated.previousIdentityKeyUntil.slice(0, 10)}`,
    );
  });

  it('takes a grace period, also none', async () => {
    const { previousIdentityKeyUntil } = await operator.runJson([
      ...['rotate-identity-key', projectId, '--grace', '7d'],
    ]);
    expectFromNow(previousIdentityKeyUntil, 7 * dayMs);
    const { output } = await operator.runLocal([
      ...['rotate-identity-key', projectId, '--grace', '0', '--yes'],
    ]);
    expect(output).toContain('stay valid for up to 30 seconds');
    expect(await operator.registry.find(projectId)).not.toHaveProperty('previousIdentityKeyUntil');
  });

  it('asks before it makes a previous key invalid early', async () => {
    await operator.registry.rotateIdentityKey(projectId, randomBytes, dayMs);
    const second = await operator.registry.identityKey(projectId);
    const rotate = (typed?: string) =>
      operator.runLocal(
        ['rotate-identity-key', projectId],
        typed === undefined ? {} : { typed: `${typed}\n` },
      );
    expect((await rotate()).messages).toContain('Use --yes');
    const refused = await rotate('no');
    expect(refused.messages).toContain('makes the previous identity key');
    expect(refused.messages).toContain('The identity key was not replaced.');
    expect(await operator.registry.identityKey(projectId)).toBe(second);
    expect((await rotate(projectId)).code).toBe(0);
    expect(await operator.registry.identityKey(projectId)).not.toBe(second);
  });

  it('does not ask after the grace period', async () => {
    await operator.registry.rotateIdentityKey(projectId, randomBytes, 1);
    const { code } = await operator.runLocal(['rotate-identity-key', projectId]);
    expect(code).toBe(0);
  });

  it('fails for an unknown project', async () => {
    const { code, messages } = await operator.runLocal(['rotate-identity-key', 'unknown']);
    expect({ code, messages }).toEqual({
      code: 1,
      messages:
        'Project "unknown" does not exist. See all with: npm run -s carillon -- list --local\n',
    });
  });
});
