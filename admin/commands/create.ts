import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { newCommand } from '../terminal/command-line.ts';
import { readSecret } from '../terminal/read-secret.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { InvalidVapidPair, readVapidPair } from '../vapid-pair.ts';
import { projectCard } from './card.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { addProjectOptions, type ProjectOptions, readPlan } from './project-options.ts';
import { projectJson } from './project-view.ts';

interface CreateOptions extends ProjectOptions {
  readonly vapidPublic?: string;
  readonly vapidPrivateFile?: string;
}

export function createCommand(runOnStack: RunOnStack, { input }: Terminal): Command {
  const command = addProjectOptions(
    newCommand(
      'create',
      'Creates a project and prints its API key card.',
      'my-site --name "My site"',
      'my-site --subscriber-cap 5000 --send-cap none',
      'my-site --user-ids signed',
      'my-site --vapid-public BPub… --vapid-private-file private-key.txt',
      'my-site --local --json',
    ).addArgument(projectIdArgument()),
  )
    .option('--vapid-public <key>', 'application server key of an existing VAPID pair')
    .option(
      '--vapid-private-file <file>',
      'file with the private VAPID key of that pair; - reads standard input',
    )
    .action(async (projectId: string, options: CreateOptions) => {
      const { name, userIds } = options;
      const plan = readPlan(options);
      const vapid = await readKeys(options, command, input);
      await runOnStack(async ({ registry, settings, baseUrl, paint, print }) => {
        const { project, secretKey, identityKey } = await registry.create({
          projectId,
          plan,
          deployedCap: settings.SUBSCRIBER_CAP,
          random: randomBytes,
          ...(name !== undefined && { name }),
          ...(userIds && { userIds }),
          ...(vapid && { vapid }),
        });
        const created = { ...projectJson(project), secretKey, identityKey, baseUrl };
        print(created, `\n${projectCard(created, baseUrl, paint)}\n`);
      });
    });
  return command;
}

async function readKeys(
  { vapidPublic, vapidPrivateFile }: CreateOptions,
  command: Command,
  input: Terminal['input'],
) {
  if (vapidPublic === undefined && vapidPrivateFile === undefined) return undefined;
  if (vapidPublic === undefined || vapidPrivateFile === undefined) {
    command.error('--vapid-public and --vapid-private-file must be given together');
  }
  try {
    return readVapidPair(vapidPublic, await readSecret(vapidPrivateFile, input));
  } catch (error) {
    if (error instanceof InvalidVapidPair) command.error(error.message);
    throw error;
  }
}
