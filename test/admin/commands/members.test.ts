import { randomBytes, randomUUID } from 'node:crypto';
import { memberKeyPattern } from '../../../contract/wire/formats.ts';
import { useOperator } from '../../fixtures/operator.ts';

const operator = useOperator();
let projectId: string;

beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  await operator.registry.create({ projectId, random: randomBytes });
});

const invite = (...options: readonly string[]) => ['invite', projectId, 'Ann', ...options];

test('invite prints the key once, with its end and how to take it back', async () => {
  const { code, output } = await operator.runLocal(invite('--role', 'sender', '--expires', '90d'));
  expect(code).toBe(0);
  expect(output).toMatch(
    /^The member key of "Ann" for "p-[^"]+", with the role sender, printed only once:\n\n {2}carillon_mk_/,
  );
  expect(output).toMatch(/It is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\. /);
  expect(output).toContain(`carillon -- revoke ${projectId} 'Ann' --local\n`);
});

test('an apostrophe in a name is quoted in the printed command', async () => {
  const { output } = await operator.runLocal([...invite('--role', 'viewer').with(2, "O'Neil")]);
  expect(output).toContain(`revoke ${projectId} 'O'\\''Neil' --local\n`);
});

test('members lists who has a key, and revoke takes one back', async () => {
  expect((await operator.runLocal(['members', projectId])).output).toContain(
    'No members. Invite one:',
  );
  const invited = await operator.runJson(invite('--role=viewer'));
  expect(invited).toEqual({
    ...{ projectId, name: 'Ann', role: 'viewer' },
    key: expect.stringMatching(memberKeyPattern),
  });
  const short = { name: 'Short', role: 'sender', lifetimeMs: 1, random: randomBytes } as const;
  await operator.registry.invite(projectId, short);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await operator.runJson(['members', projectId])).toEqual([
    { name: 'Ann', role: 'viewer', createdAt: time, expired: false },
    { name: 'Short', role: 'sender', createdAt: time, expiresAt: time, expired: true },
  ]);
  const { output } = await operator.runLocal(['members', projectId]);
  expect(output).toMatch(/Short +sender +.* UTC \(expired\)/);
  expect(await operator.runJson(['revoke', projectId, 'Ann'])).toEqual({
    ...{ projectId, name: 'Ann', revoked: true },
  });
  expect(await operator.runJson(['members', projectId])).toHaveLength(1);
});

test.each([
  [['--role', 'admin'], 'Allowed choices are viewer, sender.'],
  [[], "equired option '--role <viewer|sender>' not specified"],
  [['--role=viewer', '--expires', '0'], 'Use minutes, hours or days up to 366d'],
  [['--role=viewer', '--expires', '367d'], 'Use minutes, hours or days up to 366d'],
])('invite %j is a wrong call', async (options, message) => {
  const { code, messages } = await operator.runLocal(invite(...options));
  expect(code).toBe(2);
  expect(messages).toContain(message);
  expect(await operator.registry.members(projectId)).toEqual([]);
});

test.each(['', ' ', 'a\nb', 'x'.repeat(65), '__proto__'])(
  '%j is no name of a member',
  async (name) => {
    const { code, messages } = await operator.runLocal([
      'invite',
      projectId,
      name,
      '--role=viewer',
    ]);
    expect(code).toBe(2);
    expect(messages).toContain('Use 1 to 64 characters');
  },
);
