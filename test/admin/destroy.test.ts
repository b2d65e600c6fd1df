import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { destroy } from '../../admin/deploy/destroy.ts';
import { testTerminal } from '../fixtures/terminal.ts';

/** Destroys a stack. @param left its state after that, by the time that has passed in ms. */
async function destroyed(left: (passedMs: number) => string | undefined): Promise<unknown> {
  let deletedAt: number | undefined;
  const send = async (command: object) => {
    if (command instanceof DeleteStackCommand) deletedAt = Date.now();
    if (command instanceof GetTemplateCommand) return { TemplateBody: '{"Resources":{}}' };
    if (command instanceof ListStackResourcesCommand) return {};
    if (!(command instanceof DescribeStacksCommand)) return {};
    const StackStatus = deletedAt ? left(Date.now() - deletedAt) : 'CREATE_COMPLETE';
    if (StackStatus) return { Stacks: [{ StackName: 'Carillon', StackStatus }] };
    throw Object.assign(new Error('It does not exist.'), { name: 'ValidationError' });
  };
  const cloudFormation = Object.assign(Object.create(CloudFormationClient.prototype), { send });
  const account = { accountId: '1', region: 'eu-west-1', caller: 'arn', cloudFormation };
  const conversation = { isAgreed: true, ask: async () => '', agree: async () => {} };
  const terminal = testTerminal();
  const outcome = destroy('Carillon', { terminal, account, conversation }).then(
    () => terminal.written().output,
    (error) => error,
  );
  await jest.advanceTimersByTimeAsync(2 * 60 * 60_000);
  return outcome;
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a deletion that takes longer than the command waits has not failed', async () => {
  expect(await destroyed(() => 'DELETE_IN_PROGRESS')).toMatchObject({
    code: 'stack_not_ready',
    message: expect.stringMatching(/^Carillon is DELETE_IN_PROGRESS\. .* still working/),
  });
});

test('a deletion that has failed says so', async () => {
  expect(await destroyed(() => 'DELETE_FAILED')).toMatchObject({ code: 'deletion_failed' });
});

test('a stack that is gone is deleted', async () => {
  expect(await destroyed(() => undefined)).toContain('Carillon is deleted.');
});
