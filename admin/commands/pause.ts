import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { SentNotifications } from '../sent-notifications.ts';
import { projectCommand, type RunOnStack } from './command.ts';
import { runningOf, sentBy, stoppedText } from './notifications.ts';

export function pauseCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'pause',
    'Stops what a project sends, and refuses further sends with every key, until it is resumed. Asks nothing.',
    ...['my-site', 'my-site --json'],
  ).action((projectId: string) =>
    runOnStack(async (context) => {
      const { registry, print, next } = context;
      const { pausedAt } = await registry.pause(projectId);
      const stopped = await stopRunning(await sentBy(context, projectId), sleep);
      print(
        { projectId, pausedAt, notifications: stopped },
        stopped.map((one) => stoppedText(one)).join('') +
          `"${projectId}" is paused: it sends nothing, and its visitors can subscribe. To let it send again:\n\n` +
          `  ${next(`resume ${projectId}`)}\n`,
      );
    }),
  );
}

/**
 * Stops what a paused project sends. Nothing begins any more, so that is all.
 * @returns the notifications, when no push of them starts any more.
 */
export async function stopRunning(sent: SentNotifications, wait: (ms: number) => Promise<unknown>) {
  const running = await runningOf(sent);
  await Promise.all(running.map(({ id }) => sent.stop(id)));
  if (running.length > 0) await wait(sliceTimeline.lastPushAfterStopMs);
  return Promise.all(running.map(({ id }) => sent.find(id)));
}

export function resumeCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'resume',
    'Lets a paused project send again. What was stopped stays stopped.',
    'my-site',
  ).action((projectId: string) =>
    runOnStack(async ({ registry, print }) => {
      await registry.resume(projectId);
      print({ projectId, paused: false }, `"${projectId}" sends again.\n`);
    }),
  );
}
