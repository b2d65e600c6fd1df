import { randomBytes, randomUUID } from 'node:crypto';
import { projectTables } from '../../../admin/project-tables.ts';
import type { ProjectRef } from '../../../contract/project.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { type Operator, startOperator } from '../../fixtures/operator.ts';
import { subscription } from '../../fixtures/subscription.ts';

let operator: Operator;
let projectId: string;
let ref: ProjectRef;
let firstKey: string;

beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator.stop());
beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  const { project } = await operator.registry.create({ projectId, random: randomBytes });
  firstKey = project.vapidPublicKey;
  ref = project.ref;
});

async function subscribe(vapidPairNumber: number): Promise<void> {
  const { dynamo, tables } = operator.database;
  await subscriptionStore(dynamo, projectTables(tables), () => new Date()).save(
    ref,
    { ...subscription(), vapidPairNumber },
    null,
  );
}

describe('rotate-vapid', () => {
  it('prints the new application server key, and what to do with it', async () => {
    const { code, output, messages } = await operator.runLocal(['rotate-vapid', projectId]);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    const project = await operator.registry.find(projectId);
    expect(output).toContain(`\n  ${project!.vapidPublicKey}\n`);
    expect(output).toContain(`carillon -- drop-previous-vapid ${projectId} --local\n`);
    expect(output).not.toContain(firstKey);
  });

  it('prints both keys as JSON, and no private one', async () => {
    const rotated = await operator.runJson(['rotate-vapid', projectId]);
    const project = await operator.registry.find(projectId);
    expect(rotated).toEqual({
      projectId,
      applicationServerKey: project!.vapidPublicKey,
      previousApplicationServerKey: firstKey,
    });
  });

  it('refuses while there is a previous key, and says what to do', async () => {
    await operator.registry.rotateVapid(projectId);
    const { code, messages } = await operator.runLocal(['rotate-vapid', projectId]);
    expect(code).toBe(1);
    expect(messages).toBe(
      `Project "${projectId}" still has a previous application server key. ` +
        'Drop it first, with the command drop-previous-vapid.\n',
    );
  });
});

describe('show', () => {
  it('tells how many subscribers use the previous key', async () => {
    await subscribe(0);
    expect((await operator.runLocal(['show', projectId])).output).not.toContain('Previous server');
    await operator.registry.rotateVapid(projectId);
    await subscribe(0);
    await subscribe(1);
    const { output } = await operator.runLocal(['show', projectId]);
    expect(output).toMatch(new RegExp(`Previous server key +${firstKey}\n`));
    expect(output).toMatch(/Subscribers that use it +2\n/);
    expect(await operator.runJson(['show', projectId])).toMatchObject({
      previousApplicationServerKey: firstKey,
      usage: { subscribers: 3, previousKeySubscribers: 2 },
    });
  });
});

describe('drop-previous-vapid', () => {
  it('refuses while subscribers use the previous key', async () => {
    await subscribe(0);
    await operator.registry.rotateVapid(projectId);
    const { code, messages } = await operator.runLocal(['drop-previous-vapid', projectId]);
    expect(code).toBe(1);
    expect(messages).toBe(
      `Subscribers of "${projectId}" that still use its previous application server key: 1. ` +
        'Wait until they have visited the site, or remove them with --force.\n',
    );
  });

  it.each([
    ['types something else', 'yes\n', 'Nothing was deleted.'],
    ['has no terminal', undefined, 'Use --yes to continue without asking.'],
  ])('removes no subscribers if the operator %s', async (_title, typed, message) => {
    await subscribe(0);
    await operator.registry.rotateVapid(projectId);
    const args = ['drop-previous-vapid', projectId, '--force'];
    const { code, messages } = await operator.runLocal(args, typed === undefined ? {} : { typed });
    expect(code).toBe(1);
    expect(messages).toContain(message);
    expect(await operator.registry.find(projectId)).toMatchObject({
      previousVapidPublicKey: firstKey,
    });
    expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 1 });
  });

  it('refuses for a project that was never rotated', async () => {
    expect(await operator.runLocal(['drop-previous-vapid', projectId, '--force'])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" has no previous application server key.\n`,
    });
  });

  it('removes the subscribers of a key that is dropped already', async () => {
    await subscribe(0);
    await operator.registry.rotateVapid(projectId);
    const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
    await operator.registry
      .dropPreviousVapid(projectId, { isForced: true, waiting: interrupted })
      .catch(() => {});
    const args = ['drop-previous-vapid', projectId, '--force', '--yes'];
    const { code, output } = await operator.runLocal(args);
    expect(code).toBe(0);
    expect(output).toBe(
      `Dropped the previous application server key of "${projectId}". ` +
        'Subscribers removed with it: 1.\n',
    );
    expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 0 });
  });
});

describe.each(['rotate-vapid', 'drop-previous-vapid'])('%s', (command) => {
  it('fails for an unknown project', async () => {
    expect(await operator.runLocal([command, 'unknown'])).toEqual({
      code: 1,
      output: '',
      messages:
        'Project "unknown" does not exist. See all with: npm run -s carillon -- list --local\n',
    });
  });
});
