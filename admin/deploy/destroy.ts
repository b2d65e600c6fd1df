import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { countOf } from '../../contract/text/text.ts';
import { deployedStack, stackAdvice, stackStateOf } from '../deployed-stack.ts';
import { CommandError } from '../errors.ts';
import type { Conversation } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AwsAccount } from './aws-account.ts';

/** Commands that delete what the deletion of a stack keeps, by the type of the resource. */
const deletions: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'aws dynamodb delete-table --table-name',
  'AWS::Logs::LogGroup': 'aws logs delete-log-group --log-group-name',
};

interface Destruction {
  readonly terminal: Terminal;
  readonly account: AwsAccount;
  readonly conversation: Conversation;
}

/** Deletes a stack, after it has said what that deletes and what it keeps. */
export async function destroy(
  name: string,
  { terminal, account, conversation }: Destruction,
): Promise<void> {
  const { accountId, region, cloudFormation } = account;
  const stack = deployedStack(cloudFormation, name);
  const present = await stack.status();
  if (stackStateOf(present?.status) === 'absent') {
    throw new CommandError('stack_not_found', `${name} does not exist in ${region}.`);
  }
  const { Resources } = await stack.template();
  const resources = await stack.resources();
  const kept = resources.filter(({ id }) => Resources[id]?.DeletionPolicy?.startsWith('Retain'));
  const commands = kept
    .map(({ type, name }) => `  ${deletions[type]} ${name} --region ${region}`)
    .sort();
  const lines =
    kept.length === 0
      ? ['Deletes all of it, with its tables: projects, subscriptions and keys are lost.']
      : [
          `Deletes ${countOf(resources.length - kept.length, 'resource')}: the API with its address, functions, alarms.`,
          `Keeps ${countOf(kept.length, 'resource')}, so that no data are lost by mistake: the tables, and logs until their period ends.`,
          'To delete these too, afterwards, with everything that is stored about people:',
          ...commands,
        ];
  terminal.output.write(`${lines.join('\n')}\n`);
  await conversation.agree(`Delete ${name} in ${accountId}, ${region}?`);

  await stack.unprotect();
  await cloudFormation.send(new DeleteStackCommand({ StackName: name }));
  terminal.output.write(
    'CloudFormation deletes it, also without this command. That takes minutes.\n',
  );
  const seconds = { maxWaitTime: 3600, minDelay: 2, maxDelay: 10 };
  await waitUntilStackDeleteComplete(
    { client: cloudFormation, ...seconds },
    { StackName: name },
  ).catch(async (cause) => {
    const { status, reason } = (await stack.status()) ?? {};
    const state = stackStateOf(status);
    if (state === 'absent') return;
    // One look at it has failed: that says nothing of the deletion.
    if (state === 'working') {
      const message = `${name} is ${status}. ${stackAdvice.working}`;
      throw new CommandError('stack_not_ready', message, { cause });
    }
    throw new CommandError(
      'deletion_failed',
      `${name} is ${status}: ${reason} Its events in CloudFormation say more. Then run the command again.`,
    );
  });
  terminal.output.write(`${name} is deleted. The CDK's bucket and roles stay, for other apps.\n`);
}
