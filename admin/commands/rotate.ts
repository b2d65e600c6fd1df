import { randomBytes } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { gracePeriod } from '../errors.ts';
import type { RegisteredProject } from '../store/registered-projects.ts';
import { formatTime } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { realWaiting } from '../vapid-rotation.ts';
import { type Context, projectCommand, type RunOnStack, readDuration } from './command.ts';
import { readPair } from './create.ts';
import { previousKeyEnd } from './show.ts';

interface RotateOptions {
  readonly grace?: number;
  readonly revoke?: true;
  readonly dropPrevious?: true;
  readonly addPrevious?: string;
}

/** How long signatures of the previous identity key are valid. */
const identityGrace = '30d';

const keys = { secret: rotateSecret, identity: rotateIdentity, vapid: rotateVapid };

export function rotateCommand(runOnStack: RunOnStack, { input }: Terminal): Command {
  const command = projectCommand(
    'rotate',
    'Replaces the secret key, the identity key or the application server key (vapid) of a project.',
    ...['my-site secret --grace 24h', 'my-site secret --revoke --yes', 'my-site identity'],
    ...['my-site vapid', 'my-site vapid --drop-previous'],
    'my-site vapid --add-previous onesignal-key.pem',
  )
    .addArgument(new Argument('<key>', 'key to replace').choices(Object.keys(keys)))
    .option(
      '--grace <duration>',
      `keep the previous key valid for this long, such as 30m, 24h or 7d; 0: not at all (default: secret asks, identity ${identityGrace})`,
      readDuration,
    )
    .option('--revoke', 'also end the previous key, although it is still valid or in use')
    .option(
      '--drop-previous',
      'of vapid: drop the previous application server key, and create none',
    )
    .addOption(
      new Option(
        '--add-previous <file>',
        'of vapid: add the pair of another service as the previous one, and create none: file with its private key; - reads standard input',
      ).conflicts('dropPrevious'),
    )
    .option('--yes', 'do not ask')
    .action(async (projectId: string, key: keyof typeof keys, options: RotateOptions) => {
      const { grace, revoke, dropPrevious, addPrevious } = options;
      if (dropPrevious && key !== 'vapid') command.error('--drop-previous is for vapid only');
      if (addPrevious !== undefined && key !== 'vapid') {
        command.error('--add-previous is for vapid only');
      }
      if (key === 'vapid' && (grace !== undefined || (revoke && !dropPrevious))) {
        command.error('the previous application server key is valid until --drop-previous');
      }
      const added = addPrevious && (await readPair(command, input, addPrevious));
      await runOnStack(async (context) => {
        if (added) {
          const project = await context.registry.addPreviousVapid(projectId, added);
          printVapid(context, project, addedText(context, project));
        } else if (dropPrevious) {
          await dropPreviousVapid(context, projectId, revoke === true);
        } else {
          await keys[key](context, projectId, options);
        }
      });
    });
  return command;
}

async function rotateSecret(
  { registry, paint, print, confirm }: Context,
  projectId: string,
  { grace, revoke }: RotateOptions,
): Promise<void> {
  const { previousKeyUntil: until } = await registry.get(projectId);
  if (!revoke && isInFuture(until)) throw gracePeriod(projectId, until);
  if (grace === undefined) {
    const effect = `makes the present secret key of "${projectId}" invalid within 30 seconds; with --grace 24h it would stay valid for a day`;
    const refusal = 'The secret key was not replaced.';
    await confirm({ effect, expected: projectId, refusal });
  }
  const { project, secretKey } = await registry.rotateKey(
    projectId,
    randomBytes,
    grace,
    revoke === true,
  );
  const { previousKeyUntil } = project;
  print(
    { projectId, secretKey, previousKeyUntil },
    `The new secret key of "${projectId}", printed only once:\n\n  ${paint('yellow', secretKey)}\n\n` +
      `The previous secret key stays valid ${previousKeyEnd(previousKeyUntil)}.\n` +
      (previousKeyUntil === undefined
        ? ''
        : 'The query "Use of previous secret keys" in CloudWatch Logs Insights shows who still uses it.\n'),
  );
}

async function rotateIdentity(
  { registry, paint, print, confirm }: Context,
  projectId: string,
  { grace = readDuration(identityGrace), revoke }: RotateOptions,
): Promise<void> {
  const { previousIdentityKeyUntil: until } = await registry.get(projectId);
  if (!revoke && isInFuture(until)) {
    const effect = `ends the previous identity key of "${projectId}" now, which is valid until ${formatTime(until)}`;
    const refusal = 'The identity key was not replaced.';
    await confirm({ effect, expected: projectId, refusal });
  }
  const { project, identityKey } = await registry.rotateIdentityKey(projectId, randomBytes, grace);
  const { previousIdentityKeyUntil } = project;
  print(
    { projectId, identityKey, previousIdentityKeyUntil },
    `The new identity key of "${projectId}":\n\n  ${paint('yellow', identityKey)}\n\n` +
      `Sign with it from now on. Signatures of the previous identity key stay valid ${previousKeyEnd(previousIdentityKeyUntil)}.\n`,
  );
}

async function rotateVapid(context: Context, projectId: string): Promise<void> {
  const { registry, paint, next } = context;
  const project = await registry.rotateVapid(projectId);
  printVapid(
    context,
    project,
    `The new application server key of "${projectId}":\n\n  ${paint('cyan', project.vapidPublicKey)}\n\n` +
      'Put it into your pages. Each browser then subscribes with it at its next visit;\n' +
      'until then its pushes are signed with the previous pair.\n\n' +
      `Browsers that still use it:  ${next(`show ${projectId}`)}\n` +
      `To drop it in the end:       ${next(`rotate ${projectId} vapid --drop-previous`)}\n`,
  );
}

function addedText({ next }: Context, { projectId, previousVapidPublicKey }: RegisteredProject) {
  return (
    `"${projectId}" also has the application server key\n\n  ${previousVapidPublicKey}\n\n` +
    'Functions know it within 30 seconds. Import the subscriptions that were made with it:\n\n' +
    `  ${next(`subscriptions import ${projectId} <file> --application-server-key ${previousVapidPublicKey}`)}\n\n` +
    'Each browser moves to the current key when it visits your site.\n' +
    `To drop this one in the end:  ${next(`rotate ${projectId} vapid --drop-previous`)}\n`
  );
}

function printVapid({ print }: Context, project: RegisteredProject, text: string): void {
  const { projectId, vapidPublicKey, previousVapidPublicKey } = project;
  const applicationServerKey = vapidPublicKey;
  const previousApplicationServerKey = previousVapidPublicKey;
  print({ projectId, applicationServerKey, previousApplicationServerKey }, text);
}

/** @param isForced whether to drop a pair that subscriptions still use. */
async function dropPreviousVapid(
  { registry, terminal, yes, print, confirm }: Context,
  projectId: string,
  isForced: boolean,
): Promise<void> {
  if (isForced && !yes) {
    const project = await registry.find(projectId);
    const users = project ? await registry.countPreviousPair(project) : 0;
    const effect =
      `permanently deletes the subscribers of "${projectId}" that use its previous ` +
      `application server key: ${countText(users)}`;
    const refusal = 'Nothing was deleted.';
    if (users > 0) await confirm({ effect, expected: projectId, refusal });
  }
  const onWait = (ms: number) =>
    terminal.messages.write(
      `The key is dropped. Waiting ${ms / 1000} s, until all functions have forgotten it.\n`,
    );
  const waiting = { ...realWaiting, onWait };
  const subscriptions = await registry.dropPreviousVapid(projectId, { isForced, waiting });
  print(
    { projectId, removed: { subscriptions } },
    `Dropped the previous application server key of "${projectId}". ` +
      `Subscribers removed with it: ${countText(subscriptions)}.\n`,
  );
}

function isInFuture(time: string | undefined): time is string {
  return time !== undefined && Date.parse(time) > Date.now();
}
