import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { countOf, countText, shellString } from '../../contract/text/text.ts';
import { limitText } from '../../contract/wording/setting-texts.ts';
import { programName } from '../calls.ts';
import { CommandError, keysMissing, ProjectNotFound } from '../errors.ts';
import { type ProjectFile, projectLines, readProjectFile } from '../project-file.ts';
import { withNewKeys } from '../project-registry.ts';
import { bringProject } from '../store/arriving-project.ts';
import { WholeProjects } from '../store/whole-projects.ts';
import { newCommand } from '../terminal/command-line.ts';
import { fieldLines, formatTime } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { type Context, projectCommand, type RunOnStack } from './command.ts';
import { confirmReplacement, writeCompleteFile } from './subscriptions.ts';

export function exportCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'export',
    'Writes a project with all that it has but results, to move it to another stack. Protect the file: it contains private keys.',
    ...['my-site my-site.project', 'my-site my-site.project --yes'],
  )
    .argument('<file>', 'file to write', readFileName)
    .option('--yes', 'replace an existing file without asking')
    .action((projectId: string, file: string) =>
      runOnStack(async ({ dynamo, tables, settings, print, confirm, withBar }) => {
        const whole = new WholeProjects(dynamo, tables);
        const found = await whole.find(projectId);
        if (found === undefined) throw new ProjectNotFound(projectId);
        const { project, vapidKey, identityKey } = found;
        if (!vapidKey || !identityKey) throw keysMissing([projectId]);
        await confirmReplacement(file, projectId, confirm);
        const { months, subscribers = 0 } = await whole.usageOf(project.ref);
        const header = { projectId, exportedAt: new Date().toISOString(), limits: settings };
        const subscriptions = () => whole.subscriptionsOf(project.ref);
        const erasures = () => whole.erasuresOf(project.ref);
        const leaving = { project, vapidKey, identityKey, months, erasures, subscriptions };
        let exported = 0;
        await withBar('exporting', subscribers, (update) => {
          const lines = projectLines(header, leaving, (written) => {
            exported = written;
            update(written);
          });
          return writeCompleteFile(file, unchanged(lines));
        });
        print(
          { projectId, file, exported },
          `Exported "${projectId}" with ${countOf(exported, 'subscription')} to ${printable(file)}.\n` +
            `It contains private keys. On the other stack:\n\n  ${programName} import ${shellString(file)} --stack <its name>\n`,
        );

        /** @throws {CommandError} after the last line if the project has changed since the first one. */
        async function* unchanged(lines: AsyncIterable<string>): AsyncGenerator<string> {
          yield* lines;
          if (isDeepStrictEqual(await whole.find(projectId), found)) return;
          const message = `"${projectId}" was changed during the export. Export it again.`;
          throw new CommandError('project_changed', message);
        }
      }),
    );
}

/** @throws {InvalidArgumentError} */
function readFileName(file: string): string {
  if (file !== '-') return file;
  throw new InvalidArgumentError('It contains private keys: name a file.');
}

export function importProjectCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'import',
    'Creates the project that a file of export has. It is paused, unless its keys are new. Repeat it after an interruption: it continues.',
    ...['my-site.project --stack Carillon-next', 'my-site.project --new-keys'],
  )
    .argument('<file>', 'file of export', readFileName)
    .option('--new-keys', 'make a new secret key, and leave out the members')
    .action((file: string, { newKeys }: { readonly newKeys?: true }) =>
      runOnStack(async (context) => {
        const { dynamo, tables, print, withBar, note } = context;
        const read = await readProjectFile(file);
        const { projectId } = read.header;
        note({ projectId });
        const now = new Date().toISOString();
        const { project, secretKey } = newKeys
          ? withNewKeys(read.project, randomBytes)
          : {
              project: { ...read.project, pausedAt: read.project.pausedAt ?? now },
              secretKey: undefined,
            };
        const arrival = await withBar('importing', read.count, (onProgress) =>
          bringProject(
            dynamo,
            tables,
            { ...read, project },
            { clock: () => new Date(), sleep, onProgress },
          ),
        );
        if (arrival === 'taken') {
          const message = `This stack has a project "${projectId}", or what is left of one. Nothing was changed.`;
          throw new CommandError('project_exists', message);
        }
        const { created, unchanged, updated, erased, keyDropped } = arrival;
        const { exportedAt } = read.header;
        const members = Object.keys(project.members);
        const subscriptions = created + unchanged + updated;
        print(
          {
            projectId,
            exportedAt,
            keys: newKeys ? 'new' : 'kept',
            secretKey,
            members,
            subscriptions,
            erased,
            keyDropped,
          },
          importText(
            { ...read, project },
            { subscriptions, erased, keyDropped, secretKey },
            context,
          ),
        );
      }),
    );
}

interface Imported {
  readonly subscriptions: number;
  readonly erased: number;
  readonly keyDropped: number;
  readonly secretKey: string | undefined;
}

function importText(
  { header, project }: ProjectFile,
  { subscriptions, erased, keyDropped, secretKey }: Imported,
  { paint, settings, next }: Context,
): string {
  const { projectId, exportedAt, limits } = header;
  const names = Object.keys(project.members).map(printable).join(', ');
  const different = [
    ['subscriberCap', 'Subscriber cap', 'SUBSCRIBER_CAP'],
    ['monthlySendCap', 'Notifications a month', 'MONTHLY_SEND_CAP'],
    ['rateLimitPerMinute', 'Requests per minute', 'RATE_LIMIT_PER_MINUTE'],
  ] as const;
  const fields = [
    ['Exported', formatTime(exportedAt)],
    [
      'Keys',
      secretKey === undefined
        ? 'as at that time: also those that ended since'
        : `new secret key, printed only once: ${paint('yellow', secretKey)}`,
    ],
    ['Members', names || 'none'],
    [
      'Subscriptions',
      `${countText(subscriptions)}, also of who has unsubscribed since, or was erased in another stack`,
    ],
    ['Of erased browsers, left out', erased === 0 ? undefined : countText(erased)],
    ['Of a dropped key, left out', keyDropped === 0 ? undefined : countText(keyDropped)],
    ...different.flatMap(([limit, label, name]) =>
      project.settings[limit] !== undefined || limits[name] === settings[name]
        ? []
        : [
            [
              label,
              `${limitText(settings[name])}, this deployment's; there ${limitText(limits[name])}`,
            ] as const,
          ],
    ),
    ['Paused', project.pausedAt && `until you type ${next(`resume ${projectId}`)}`],
  ] as const;
  return `Imported ${paint('bold', projectId)}\n${fieldLines(fields, paint)}`;
}
