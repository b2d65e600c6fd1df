import { type Command, InvalidArgumentError } from 'commander';
import { countText } from '../../contract/count-text.ts';
import { newCommand } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { addProjectOptions, type ProjectOptions, readPlanChange } from './project-options.ts';
import { type ProjectView, projectText, projectView } from './project-view.ts';

export function setCommand(runOnStack: RunOnStack): Command {
  const command = addProjectOptions(
    newCommand(
      'set',
      'Changes the name of a project, its limits, and whether user ids need a signature.',
      ...['my-site --name "My new site"', 'my-site --subscriber-cap 5000 --send-cap default'],
      ...['my-site --user-ids signed', 'my-site --shown-sample 10'],
    ).addArgument(projectIdArgument()),
  ).option(
    '--shown-sample <N>',
    'of a broadcast to more than 100,000 subscribers, one in N browsers reports that it was shown; 1: each',
    readShownSample,
  );
  return command.action(async (projectId: string, options: SetOptions) => {
    const { name, userIds, shownSample } = options;
    const plan = { ...readPlanChange(options), ...(shownSample && { shownSample }) };
    const changesPlan = Object.keys(plan).length > 0;
    if (!changesPlan && name === undefined && userIds === undefined) {
      const names = command.options.map(({ long }) => long).join(', ');
      command.error(`nothing to change: give at least one of ${names}`);
    }
    await runOnStack(async ({ registry, settings, paint, print, next }) => {
      if (name !== undefined) await registry.rename(projectId, name);
      if (userIds !== undefined) await registry.setUserIds(projectId, userIds);
      if (changesPlan) await registry.setPlan(projectId, plan, settings);
      const usage = await registry.usage(projectId);
      const view = projectView(await registry.get(projectId), settings, usage);
      const warning = plan.subscriberCap === undefined ? undefined : capWarning(view);
      const notes = [
        ...(warning === undefined ? [] : [`\n${paint('yellow', warning)}\n`]),
        ...(userIds === 'signed' ? [signedNote(next(`users delete ${projectId} <userId>`))] : []),
      ];
      print({ ...view, warning }, projectText(view, paint) + notes.join(''));
    });
  });
}

interface SetOptions extends ProjectOptions {
  readonly shownSample?: number | 'default';
}

/** @throws {InvalidArgumentError} */
function readShownSample(text: string): number | 'default' {
  if (!/^(?:[1-9]\d?|100)$/.test(text)) {
    throw new InvalidArgumentError('Use a whole number from 1 to 100.');
  }
  return text === '1' ? 'default' : Number(text);
}

/** Nobody notices later: the cap removes no subscriber. */
function capWarning({ usage: { subscribers }, limits: { subscriberCap } }: ProjectView) {
  if (subscriberCap === null || subscribers <= subscriberCap) return undefined;
  return (
    `The subscriber cap, ${countText(subscriberCap)}, is below the number of subscribers, ` +
    `${countText(subscribers)}. All of them stay, and new ones are refused.`
  );
}

/** What an operator has to know who requires signatures. */
function signedNote(deleteCall: string): string {
  return (
    '\nWithin 30 seconds, every new user id needs a signature. Subscriptions that already have a user id\n' +
    `keep it, with or without one. To remove those of a user:\n\n  ${deleteCall}\n`
  );
}
