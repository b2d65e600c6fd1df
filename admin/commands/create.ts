import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { VapidKeys } from '../../contract/project.ts';
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
      'my-site --vapid-private-file private-key.pem',
      'my-site --local --json',
    ).addArgument(projectIdArgument()),
  )
    .option(
      '--vapid-private-file <file>',
      'file with an existing private VAPID key, as base64url, hex, PEM or JSON; - reads standard input',
    )
    .option('--vapid-public <key>', 'application server key of that pair, to compare')
    .action(async (projectId: string, options: CreateOptions) => {
      const { name, userIds, vapidPublic, vapidPrivateFile } = options;
      const plan = readPlan(options);
      if (vapidPublic !== undefined && vapidPrivateFile === undefined) {
        command.error('--vapid-public and --vapid-private-file must be given together');
      }
      const vapid = vapidPrivateFile
        ? await readPair(command, input, vapidPrivateFile, vapidPublic)
        : undefined;
      await runOnStack(async ({ registry, baseUrl, paint, print }) => {
        const { project, secretKey, identityKey } = await registry.create({
          projectId,
          plan,
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

/**
 * Reads a VAPID pair from a file with its private key. A pair that is wrong is a wrong call.
 * @param publicKey is compared.
 */
export async function readPair(
  command: Command,
  input: Terminal['input'],
  file: string,
  publicKey?: string,
): Promise<VapidKeys> {
  try {
    return readVapidPair(publicKey, await readSecret(file, input));
  } catch (error) {
    if (error instanceof InvalidVapidPair) command.error(error.message);
    throw error;
  }
}
