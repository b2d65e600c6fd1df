import { randomBytes } from 'node:crypto';
import { limits } from '../../contract/limits.ts';
import type { VapidKeys } from '../../contract/project.ts';
import { type Flags, UsageError } from '../terminal/arguments.ts';
import { printable } from '../terminal/printable.ts';
import { paintFor } from '../terminal/terminal.ts';
import { InvalidVapidPair, readVapidPair } from '../vapid-pair.ts';
import { projectCard } from './card.ts';
import { type Command, projectJson } from './command.ts';
import { limitFlags, readPlan } from './limits.ts';

const flags = {
  name: { value: '<text>', help: 'what people call it; the id where left out' },
  ...limitFlags,
  'vapid-public': { value: '<key>', help: 'public half of a VAPID pair you have already' },
  'vapid-private': { value: '<key>', help: 'private half of it' },
} as const satisfies Flags;

export const create: Command<typeof flags> = {
  summary: 'Makes a project and prints its API key card.',
  takesProject: true,
  flags,
  prepare(given, projectId) {
    const plan = readPlan(given);
    const vapid = readKeys(given['vapid-public'], given['vapid-private']);
    const name = readName(given.name);
    return async ({ registry, baseUrl, terminal, print }) => {
      const { project, secretKey } = await registry.create({
        projectId,
        plan,
        random: randomBytes,
        ...(name !== undefined && { name }),
        ...(vapid && { vapid }),
      });
      const card = {
        projectId,
        applicationServerKey: project.vapidPublicKey,
        secretApiKey: secretKey,
      };
      print(
        { ...projectJson(project), secretApiKey: secretKey, baseUrl },
        `\n${projectCard(card, baseUrl, paintFor(terminal.output))}\n`,
      );
    };
  },
};

function readName(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (name.length <= limits.projectNameLength && printable(name) === name) return name;
  throw new UsageError(
    `--name must be 1 to ${limits.projectNameLength} characters, none of them a control character.`,
  );
}

function readKeys(publicKey?: string, privateKey?: string): VapidKeys | undefined {
  if (publicKey === undefined && privateKey === undefined) return undefined;
  if (publicKey === undefined || privateKey === undefined) {
    throw new UsageError('--vapid-public and --vapid-private go together.');
  }
  try {
    return readVapidPair(publicKey, privateKey);
  } catch (error) {
    throw error instanceof InvalidVapidPair ? new UsageError(error.message) : error;
  }
}
