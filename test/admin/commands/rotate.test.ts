import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCarillon } from '../../../admin/commands/run.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { identityKeyPattern, secretKeyPattern } from '../../../contract/wire/formats.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { type RunOptions, useOperator } from '../../fixtures/operator.ts';
import { rotatedLongAgo } from '../../fixtures/rotated-long-ago.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

const operator = useOperator();
let projectId: string;
let ref: ProjectRef;
/** The first keys of the project. */
let secretKey: string;
let identityKey: string;
let vapidKey: string;

beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  const created = await operator.registry.create({ projectId, random: randomBytes });
  ({ secretKey, identityKey } = created);
  ({ ref, vapidPublicKey: vapidKey } = created.project);
});

const rotate = (args: string, options?: RunOptions) =>
  operator.runLocal(['rotate', projectId, ...args.split(' ')], options);
const rotateJson = (args: string) => operator.runJson(['rotate', projectId, ...args.split(' ')]);
async function rotateLongAgo(): Promise<void> {
  await rotate('vapid');
  const { dynamo, tables } = operator.database;
  await rotatedLongAgo(dynamo, tables.PROJECTS_TABLE, projectId);
}
const show = async () => (await operator.runLocal(['show', projectId])).output;
const find = () => operator.registry.find(projectId);

async function subscribe(vapidPairNumber: number): Promise<void> {
  const { dynamo, tables } = operator.database;
  const store = subscriptionStore(dynamo, projectTables(tables), () => new Date());
  await store.save(keyed(ref), { ...subscription(), vapidPairNumber }, null);
}

const dayMs = 24 * 60 * 60_000;

/** Expects a time this many ms from now, within a minute. */
function expectFromNow(iso: string, ms: number): void {
  expect(Math.abs(Date.parse(iso) - Date.now() - ms)).toBeLessThan(60_000);
}

it.each([
  ['secret --grace=0h', "argument '0h' is invalid. Use 0, or minutes, hours or days up to 30d"],
  ['secret --grace=24', "argument '24' is invalid."],
  ['identity --grace=31d', "argument '31d' is invalid."],
  ['identity --grace=1.5h', "argument '1.5h' is invalid."],
  ['key', 'Allowed choices are secret, identity, vapid.'],
  ['secret --drop-previous', '--drop-previous is for vapid only.'],
  ['secret --add-previous=-', '--add-previous is for vapid only.'],
  ['vapid --add-previous=- --drop-previous', "cannot be used with option '--drop-previous'"],
  ['vapid --add-previous=-', 'Invalid private VAPID key'],
  ['vapid --grace=24h', 'The previous application server key is valid until --drop-previous.'],
  ['vapid --revoke', 'The previous application server key is valid until --drop-previous.'],
])('refuses "rotate <projectId> %s"', async (args, message) => {
  const { code, messages } = await rotate(args);
  expect(code).toBe(2);
  expect(messages).toContain(message);
});

describe('secret', () => {
  it('says without a terminal that the present key would end, before --yes', async () => {
    const { code, messages } = await rotate('secret');
    expect(code).toBe(1);
    expect(messages).toBe(
      `This makes the present secret key of "${projectId}" invalid within 30 seconds; with --grace 24h it would stay ` +
        'valid for a day. Without a terminal nobody can be asked: use --yes to continue.\n',
    );
  });

  it('prints a new secret key', async () => {
    const rotated = await rotateJson('secret --yes');
    expect(rotated).toEqual({ projectId, secretKey: expect.stringMatching(secretKeyPattern) });
    expect(rotated.secretKey).not.toBe(secretKey);
  });

  it('keeps the previous key valid for the grace period', async () => {
    const { output } = await rotate('secret --grace 24h');
    expect(output).toContain('"Use of previous secret keys"');
    const { previousKeyUntil } = (await find())!;
    expectFromNow(previousKeyUntil!, dayMs);
    expect(await show()).toContain(
      `Previous secret key until        ${previousKeyUntil!.slice(0, 10)}`,
    );
  });

  it('asks before the present key ends at once', async () => {
    const refused = await rotate('secret', { typed: 'no\n' });
    expect(refused.code).toBe(1);
    expect(refused.messages).toContain('makes the present secret key');
    expect(refused.messages).toContain('The secret key was not replaced.');
    const agreed = await rotate('secret', { typed: `${projectId}\n` });
    expect(agreed.code).toBe(0);
    expect(agreed.output).not.toContain(secretKey);
  });

  it('refuses to end a previous key that somebody else has kept while the operator was asked', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const terminal = { ...testTerminal({ isTTY: true }), input };
    let previousKeyUntil: string | undefined;
    terminal.messages.once('data', async () => {
      ({ previousKeyUntil } = await rotateJson('secret --grace 24h'));
      input.end(`${projectId}\n`);
    });
    const args = ['rotate', projectId, 'secret', '--local'];
    expect(await runCarillon(args, terminal, join(operator.directory, 'local.json'))).toBe(1);
    expect(terminal.written().messages).toContain('A rotation would end it now.');
    expect(await find()).toMatchObject({ previousKeyUntil });
  });

  it('refuses to end a previous key during its grace period, unless it is revoked', async () => {
    await rotate('secret --grace 24h');
    const refused = await rotate('secret --grace 1h --yes');
    expect(refused.code).toBe(1);
    expect(refused.messages).toMatch(
      /previous secret key .* is valid until .* Wait, or use --revoke; with --grace/,
    );
    expect(await rotate('secret --revoke --grace 24h')).toMatchObject({ code: 0 });
    expect(await find()).toHaveProperty('previousKeyUntil');
    expect(await rotate('secret --revoke --yes')).toMatchObject({ code: 0 });
    expect(await find()).not.toHaveProperty('previousKeyUntil');
  });
});

describe('identity', () => {
  it('keeps the previous key for 30 days, or for the grace period', async () => {
    const rotated = await rotateJson('identity');
    expect(rotated.identityKey).toMatch(identityKeyPattern);
    expect(rotated.identityKey).not.toBe(identityKey);
    expectFromNow(rotated.previousIdentityKeyUntil, 30 * dayMs);
    const until = rotated.previousIdentityKeyUntil.slice(0, 10);
    expect(await show()).toContain(`Previous identity key until      ${until}`);
    const second = await rotateJson('identity --grace 7d --revoke');
    expectFromNow(second.previousIdentityKeyUntil, 7 * dayMs);
    const { output } = await rotate('identity --grace 0 --yes');
    expect(output).toContain('stay valid for up to 30 seconds');
    expect(await find()).not.toHaveProperty('previousIdentityKeyUntil');
  });

  it('asks before it makes a previous key invalid early, and not after the grace period', async () => {
    await operator.registry.rotateIdentityKey(projectId, randomBytes, dayMs);
    const second = await operator.registry.identityKey(projectId);
    expect((await rotate('identity')).messages).toContain('use --yes');
    const { messages } = await rotate('identity', { typed: 'no\n' });
    expect(messages).toContain('ends the previous identity key');
    expect(messages).toContain('The identity key was not replaced.');
    expect(await operator.registry.identityKey(projectId)).toBe(second);
    expect(await rotate('identity', { typed: `${projectId}\n` })).toMatchObject({ code: 0 });
    expect(await operator.registry.identityKey(projectId)).not.toBe(second);
    await operator.registry.rotateIdentityKey(projectId, randomBytes, 1);
    expect(await rotate('identity')).toMatchObject({ code: 0 });
  });
});

describe('vapid', () => {
  it('prints the new application server key, and what to do with it', async () => {
    const { code, output, messages } = await rotate('vapid');
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toContain(`\n  ${(await find())!.vapidPublicKey}\n`);
    expect(output).toContain(`carillon -- rotate ${projectId} vapid --drop-previous --local\n`);
    expect(output).not.toContain(vapidKey);
  });

  it('prints both keys as JSON, and no private one', async () => {
    expect(await rotateJson('vapid')).toEqual({
      projectId,
      applicationServerKey: (await find())!.vapidPublicKey,
      previousApplicationServerKey: vapidKey,
    });
  });

  it('lets show tell how many subscribers use the previous key', async () => {
    await subscribe(0);
    expect(await show()).not.toContain('Previous server');
    await rotate('vapid');
    await subscribe(0);
    await subscribe(1);
    expect(await show()).toMatch(
      new RegExp(`Previous application server key +${vapidKey}\n +Subscribers that use it +2\n`),
    );
    expect(await operator.runJson(['show', projectId])).toMatchObject({
      previousApplicationServerKey: vapidKey,
      usage: { subscribers: 3, previousKeySubscribers: 2 },
    });
  });
});

describe('vapid --drop-previous', () => {
  it.each([
    ['types something else', 'yes\n', 'Nothing was deleted.'],
    ['has no terminal', undefined, 'use --yes to continue.'],
  ])('removes no subscribers if the operator %s', async (_title, typed, message) => {
    await subscribe(0);
    await rotateLongAgo();
    const options = typed === undefined ? {} : { typed };
    const { code, messages } = await rotate('vapid --drop-previous --revoke', options);
    expect(code).toBe(1);
    expect(messages).toContain(message);
    expect(await find()).toMatchObject({ previousVapidPublicKey: vapidKey });
    expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 1 });
  });

  it('removes the subscribers of a key that is dropped already, with --revoke', async () => {
    await subscribe(0);
    await rotateLongAgo();
    const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
    await operator.registry
      .dropPreviousVapid(projectId, { isForced: true, waiting: interrupted })
      .catch(() => {});
    const { dynamo, tables } = operator.database;
    await rotatedLongAgo(dynamo, tables.PROJECTS_TABLE, projectId);
    const { code, output } = await rotate('vapid --drop-previous --revoke --yes');
    expect(code).toBe(0);
    expect(output).toBe(
      `Dropped the previous application server key of "${projectId}". ` +
        'Subscribers removed with it: 1.\n',
    );
    expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 0 });
  });
});
