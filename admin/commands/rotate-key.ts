import { randomBytes } from 'node:crypto';
import { paintFor } from '../terminal/terminal.ts';
import type { Command } from './command.ts';
import { readDuration } from './duration.ts';
import { formatTime } from './project-text.ts';

const flags = {
  grace: {
    value: '<30m|24h|7d>',
    help: 'for how long the old key stays good; not at all if absent',
  },
} as const;

export const rotateKey: Command<typeof flags> = {
  summary: "Replaces a project's secret key.",
  takesProject: true,
  flags,
  prepare({ grace: text }, projectId) {
    const grace = text === undefined ? 0 : readDuration('grace', text);
    return async ({ registry, terminal, print }) => {
      const { project, secretKey } = await registry.rotateKey(projectId, randomBytes, grace);
      const { previousKeyUntil } = project;
      const paint = paintFor(terminal.output);
      const end = previousKeyUntil
        ? `is good until ${formatTime(previousKeyUntil)}`
        : 'ends within half a minute';
      print(
        { projectId, secretApiKey: secretKey, previousKeyUntil },
        `The new secret key of "${projectId}", shown this once:\n\n  ${paint('yellow', secretKey)}\n\n` +
          `The old one ${end}.\n`,
      );
    };
  },
};
