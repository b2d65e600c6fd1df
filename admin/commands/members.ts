import { randomBytes } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { shellString } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import { type MemberRole, memberRoles } from '../../contract/wire/routes.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import { type Column, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { projectCommand, type RunOnStack, readLifetime, readName } from './command.ts';

interface InviteOptions {
  readonly role: MemberRole;
  readonly expires?: number;
}

export function inviteCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'invite',
    'Creates a member key for a person, and prints it once.',
    ...['my-site Ann --role sender', 'my-site "Ann Lee" --role viewer --expires 90d'],
  )
    .addArgument(memberArgument())
    .addOption(
      new Option(
        '--role <viewer|sender>',
        'a viewer reads the project and its notifications; a sender also sends and stops them',
      )
        .choices(memberRoles)
        .makeOptionMandatory(),
    )
    .option('--expires <duration>', 'end the key after this long, such as 90d', readExpires)
    .action((projectId: string, name: string, { role, expires }: InviteOptions) =>
      runOnStack(async ({ registry, paint, print, next }) => {
        const member = { name, role, lifetimeMs: expires, random: randomBytes };
        const { key, expiresAt } = await registry.invite(projectId, member);
        const end =
          expiresAt === undefined ? 'until you revoke it' : `until ${formatTime(expiresAt)}`;
        print(
          { projectId, name, role, key, expiresAt },
          `The member key of "${printable(name)}" for "${projectId}", with the role ${role}, printed only once:\n\n` +
            `  ${paint('yellow', key)}\n\n` +
            `It is valid ${end}. To take it back:\n\n  ${next(`revoke ${projectId} ${shellString(name)}`)}\n`,
        );
      }),
    );
}

export function membersCommand(runOnStack: RunOnStack): Command {
  return projectCommand('members', 'Lists the people who have a member key.', 'my-site').action(
    (projectId: string) =>
      runOnStack(async ({ registry, paint, print, next }) => {
        const now = new Date().toISOString();
        const members = (await registry.members(projectId)).map((member) => ({
          ...member,
          expired: member.expiresAt !== undefined && member.expiresAt <= now,
        }));
        const none = `No members. Invite one:\n\n  ${next(`invite ${projectId} Ann --role sender`)}\n`;
        print(members, members.length === 0 ? none : table(columns, members, paint));
      }),
  );
}

type Member = Awaited<ReturnType<ProjectRegistry['members']>>[number];

const columns: readonly Column<Member & { readonly expired: boolean }>[] = [
  ['name', ({ name }) => printable(name)],
  ['role', ({ role }) => role],
  ['invited', ({ createdAt }) => formatTime(createdAt)],
  [
    'key ends',
    ({ expiresAt, expired }) =>
      expiresAt === undefined ? 'never' : `${formatTime(expiresAt)}${expired ? ' (expired)' : ''}`,
  ],
];

export function revokeCommand(runOnStack: RunOnStack): Command {
  return projectCommand('revoke', 'Ends a member key.', 'my-site Ann')
    .addArgument(memberArgument())
    .action((projectId: string, name: string) =>
      runOnStack(async ({ registry, print }) => {
        await registry.revoke(projectId, name);
        print(
          { projectId, name, revoked: true },
          `The member key of "${printable(name)}" for "${projectId}" is refused within 30 seconds.\n`,
        );
      }),
    );
}

function memberArgument(): Argument {
  return new Argument('<name>', 'name of the member, which notifications show').argParser(
    (name) => {
      // An object of JavaScript cannot have `__proto__` as a name of its own members.
      const text = name === '__proto__' ? '' : name;
      return readName(text, [...name].length, limits.memberNameLength);
    },
  );
}

function readExpires(text: string): number {
  return readLifetime(text, 366, 'Use minutes, hours or days up to 366d, such as 12h or 90d.');
}
