import { randomBytes } from 'node:crypto';
import { paintFor } from '../../terminal/terminal.ts';
import type { Command } from '../command.ts';

export const rotateKey: Command<Record<never, never>> = {
  summary: "Replaces a project's secret key; the old one ends within half a minute.",
  takesProject: true,
  flags: {},
  prepare:
    (_flags, projectId) =>
    async ({ registry, terminal, print }) => {
      const { secretKey } = await registry.rotateKey(projectId, randomBytes);
      const paint = paintFor(terminal.output);
      print(
        { projectId, secretApiKey: secretKey },
        `The new secret key of "${projectId}", shown this once:\n\n  ${paint('yellow', secretKey)}\n\n` +
          'The old one ends within half a minute.\n',
      );
    },
};
