import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { limits } from '../../contract/wire/limits.ts';
import { type AuditEntry, auditStore, auditSubject } from '../../lambdas/store/audit.ts';
import { sentNotifications } from '../sent-notifications.ts';
import { type Column, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { everyProject } from './audit-entry.ts';
import { projectCommand, type RunOnStack } from './command.ts';
import { keyedProject, namingPerson, type PersonOptions, projectsThatErased } from './users.ts';

const columns: readonly Column<AuditEntry>[] = [
  ['time', ({ at }) => formatTime(at.split(' ')[0]!)],
  ['who', ({ by }) => printable(by)],
  ['what', ({ action, failed }) => `${action}${failed ? ' (failed)' : ''}`],
  ['how many', ({ count }) => String(count ?? ''), 'right'],
  ['whose', ({ member, subject = '' }) => printable(member ?? subject.slice(0, 12))],
];

export function auditCommand(runOnStack: RunOnStack): Command {
  const command = projectCommand(
    'audit',
    `Prints who did what with a project in the last ${limits.auditDays} days, or with one person's data. Sends: as long as their notifications are kept.`,
    ...['my-site', 'my-site ada --json'],
  );
  const read = namingPerson(command);
  return command.action((projectId: string, userId: string | undefined, options: PersonOptions) => {
    const isOfPerson = [userId, ...Object.values(options)].some((one) => one !== undefined);
    const person = isOfPerson ? read(userId, options) : undefined;
    return runOnStack(async (context) => {
      const { dynamo, tables, paint, print } = context;
      const audit = auditStore(dynamo, tables.audit, () => new Date(), randomBytes);
      const own = await audit.entries(projectId);
      const project = await keyedProject(context, projectId).catch((error: unknown) => {
        // Entries outlive their project. Its key does not, which is needed to find a person.
        if (own.length > 0 && person === undefined) return undefined;
        throw error;
      });
      const all = [...own, ...(await audit.entries(everyProject))];
      if (project !== undefined && person === undefined) {
        const { ref } = project;
        const sent = sentNotifications(dynamo, tables, ref, () => new Date());
        for (const { sentAt, sentBy = 'secret key', attempted } of await sent.latest(Infinity))
          all.push({ projectId, at: sentAt, by: sentBy, action: 'send', count: attempted });
      }
      const subject = project && person && auditSubject(project, person);
      const entries = all
        .filter((entry) => subject === undefined || entry.subject === subject)
        .sort((one, other) => (one.at < other.at ? 1 : -1));
      const isErased =
        person !== undefined && (await projectsThatErased(context, [projectId], person)).length > 0;
      const none = isErased
        ? 'Nothing is recorded of this browser, which was erased: look for its user id, too.\n'
        : 'Nothing is recorded.\n';
      print(entries, entries.length === 0 ? none : table(columns, entries, paint));
    });
  });
}
