import { randomBytes } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { countOf, shellString } from '../../contract/text/text.ts';
import { nearestName } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import { consolePath, type MemberRole, memberRoles } from '../../contract/wire/routes.ts';
import { CommandError } from '../errors.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, fieldLines, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import {
  type Context,
  optionalProject,
  projectCommand,
  type RunOnStack,
  readLifetime,
  readName,
} from './command.ts';

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
      runOnStack(async ({ registry, baseUrl, paint, print, next, note }) => {
        const member = { name, role, lifetimeMs: expires, random: randomBytes };
        const { key, expiresAt } = await registry.invite(projectId, member);
        note({ member: name });
        const end =
          expiresAt === undefined ? 'until you revoke it' : `until ${formatTime(expiresAt)}`;
        const fields = [
          ['Console', `${baseUrl}${consolePath}, unless it is turned off`],
          ['Project id', projectId],
          ['Member key', paint('yellow', key)],
        ] as const;
        print(
          { projectId, name, role, key, expiresAt },
          `For "${printable(name)}", with the role ${role}. The member key is printed only once:\n\n` +
            `${fieldLines(fields, paint)}\n` +
            `The key is valid ${end}. To take it back:\n\n  ${next(`revoke ${projectId} ${shellString(name)}`)}\n`,
        );
      }),
    );
}

export function membersCommand(runOnStack: RunOnStack): Command {
  const command = newCommand(
    'members',
    'Lists the people who have a member key of a project, or the keys of one person.',
    ...['my-site', '--name Ann'],
  )
    .addArgument(optionalProject())
    .option('--name <name>', 'in all projects, those with this in their name');
  return command.action((projectId: string | undefined, { name }: MembersOptions) => {
    if ((projectId === undefined) === (name === undefined)) {
      command.error('name a project, or a person with --name');
    }
    return runOnStack(async ({ registry, paint, print, next }) => {
      if (projectId !== undefined) {
        const members = (await registry.members(projectId)).map(withExpiry);
        const none = `No members. Invite one:\n\n  ${next(`invite ${projectId} Ann --role sender`)}\n`;
        print(members, members.length === 0 ? none : table(columns, members, paint));
        return;
      }
      const wanted = name!.toLowerCase();
      const isWanted = (one: string) => one.toLowerCase().includes(wanted);
      const found = await membersWhere(registry, name!, isWanted);
      const revoke = next(`revoke --name ${shellString(found[0]!.name)}`);
      const text = table([['project', (one) => one.projectId], ...columns], found, paint);
      print(found, `${text}\nTo end the keys of one name in all projects:\n\n  ${revoke}\n`);
    });
  });
}

interface MembersOptions {
  readonly name?: string;
}

/** Members of all projects. @param typed what {@link isWanted} looks for. @throws {CommandError} if nobody is found. */
async function membersWhere(
  registry: Context['registry'],
  typed: string,
  isWanted: (name: string) => boolean,
): Promise<readonly (ListedMember & { readonly projectId: string })[]> {
  const all = [];
  for await (const { projectId } of registry.list()) {
    for (const member of await registry.members(projectId)) {
      all.push({ projectId, ...withExpiry(member) });
    }
  }
  const found = all.filter(({ name }) => isWanted(name));
  if (found.length > 0) return found.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
  const names = all.map(({ name }) => name);
  const nearest = nearestName(typed, names);
  const question = nearest === undefined ? '' : ` Did you mean "${printable(nearest)}"?`;
  throw new CommandError('member_not_found', `No project has such a member.${question}`);
}

function withExpiry(member: Member): ListedMember {
  const { expiresAt } = member;
  return { ...member, expired: expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() };
}

type Member = Awaited<ReturnType<ProjectRegistry['members']>>[number];

type ListedMember = Member & { readonly expired: boolean };

const columns: readonly Column<ListedMember>[] = [
  ['name', ({ name }) => printable(name)],
  ['role', ({ role }) => role],
  ['invited', ({ createdAt }) => formatTime(createdAt)],
  [
    'key ends',
    ({ expiresAt, expired }) =>
      expiresAt === undefined ? 'never' : `${formatTime(expiresAt)}${expired ? ' (expired)' : ''}`,
  ],
];

interface RevokeOptions extends MembersOptions {
  readonly yes?: true;
}

export function revokeCommand(runOnStack: RunOnStack): Command {
  const command: Command = newCommand(
    'revoke',
    'Ends the member key of a person in a project, or those in all projects.',
    ...['my-site Ann', '--name Ann --dry-run', '--name Ann --yes'],
  )
    .addArgument(optionalProject())
    .addArgument(memberArgument().argOptional())
    .option('--name <name>', 'exactly this name, in all projects')
    .option('--dry-run', 'with --name, print what would happen, and change nothing')
    .option('--yes', 'with --name, revoke without asking for confirmation');
  return command.action(
    (projectId: string | undefined, member: string | undefined, options: RevokeOptions) => {
      const { name } = options;
      if (projectId !== undefined && member !== undefined && name === undefined) {
        return runOnStack((context) => revokeOne(context, projectId, member));
      }
      if (projectId !== undefined || name === undefined) {
        command.error('name a project and a member, or only --name');
      }
      return runOnStack((context) => revokeAll(context, name));
    },
  );
}

async function revokeOne({ registry, print, note }: Context, projectId: string, name: string) {
  await registry.revoke(projectId, name);
  // Not before: a name that no member has may be a pasted key.
  note({ member: name });
  print(
    { projectId, name, revoked: true },
    `The member key of "${printable(name)}" for "${projectId}" is refused within 30 seconds.\n`,
  );
}

async function revokeAll({ registry, dryRun, print, confirm, next, note }: Context, name: string) {
  const projectIds = (await membersWhere(registry, name, (one) => one === name)).map(
    ({ projectId }) => projectId,
  );
  const keys = `${countOf(projectIds.length, 'member key')} of "${printable(name)}"`;
  if (!dryRun) {
    const effect = `ends ${keys}: ${projectIds.join(', ')}`;
    await confirm({ effect, expected: name, label: 'name', refusal: 'Nothing was revoked.' });
    for (const projectId of projectIds) {
      try {
        await registry.revoke(projectId, name);
        note({ projectId, member: name });
      } catch (error) {
        // Somebody else was faster.
        const gone = ['member_not_found', 'project_not_found'];
        if (!gone.includes((error as Partial<CommandError>).code!)) throw error;
      }
    }
  }
  const text = `${dryRun ? 'Would end' : 'Ended'} ${keys}, within 30 seconds: ${projectIds.join(', ')}.\n`;
  const others = projectIds.flatMap((projectId) => [
    next(`rotate ${projectId} secret --grace 24h`),
    next(`rotate ${projectId} identity`),
  ]);
  const known = `\nOther keys that the person may know stay valid. To replace them:\n\n${others.map((call) => `  ${call}\n`).join('')}`;
  print({ name, projectIds, revoked: !dryRun }, dryRun ? text : text + known);
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
