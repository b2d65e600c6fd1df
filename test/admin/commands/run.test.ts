import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCarillon } from '../../../admin/commands/run.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { settingTexts } from '../../../contract/wording/setting-texts.ts';
import { callWithoutStack, helpTexts, wordsOf } from '../../fixtures/call-command.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

const operator = useOperator();
let projectId: string;

beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

describe('a wrong call', () => {
  const { publicKey } = newVapidPair();

  it.each([
    [
      [],
      'Missing command: use one of create, show, list, set, rotate, invite, members, revoke, delete, notifications, pause, resume, users, audit, subscriptions, doctor, restore, tables, export, import, recount.',
    ],
    [['subscriptions'], 'Missing command: use one of import, export, count, prune.'],
    [['crate', 'x'], "Unknown command 'crate'. Did you mean create?"],
    [['\u001b[2J'], "Unknown command '\\u001b[2J'."],
    [['show'], "Missing required argument 'projectId'."],
    [['rotate', 'my-site'], "Missing required argument 'key': use one of secret, identity, vapid."],
    [['show', 'a', 'b'], "Too many arguments for 'show'."],
    [
      ['show', 'Upper'],
      'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.',
    ],
    [['create', 'a', '--send-cap=1e3'], "argument '1e3' is invalid. Use a whole number above 0"],
    [['set', 'a', '--subscribers-cap=1'], 'Did you mean --subscriber-cap?'],
    [['create', 'a', '--rate-limit=0'], 'Use a whole number above 0, none or default.'],
    [['set', 'a', '--rate-limit=track=0'], 'Use a whole number above 0, none or default.'],
    [['set', 'a', '--rate-limit=track=9,track=8'], 'Name each action once.'],
    [
      ['set', 'a', '--rate-limit=track=9,push=8'],
      'There is no action "push". The actions are subscribe, unsubscribe, getProject, send, ',
    ],
    [
      ['set', 'a'],
      `Nothing to change: give at least one of ${Object.values(settingTexts)
        .map(({ option: [name] }) => `--${name}`)
        .join(', ')}.`,
    ],
    [['show', 'a', '--month', '2026-13'], 'Use a year and a month, such as 2026-11.'],
    [['create', 'a', '--user-ids', 'secret'], 'Allowed choices are open, signed.'],
    [
      ['users', 'delete', 'x'.repeat(257), '--all-projects'],
      'It must be text of 1 to 256 characters, and has 257.',
    ],
    [['create', 'a', `--vapid-public=${publicKey}`], 'must be given together'],
    [
      ['create', 'a', `--vapid-public=${newVapidPair().publicKey}`, '--vapid-private-file=-'],
      'Invalid private VAPID key',
    ],
    [
      ['list', '--local', '--stack', 'Other'],
      "'--local' cannot be used with option '--stack <name>'",
    ],
  ])('%j ends with code 2, an error and a hint', async (args, message) => {
    const { code, output, messages } = await operator.run(args);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(messages).toContain(message);
    expect(messages).toMatch(/\nSee: npm run -s carillon -- .*--help\n$/);
    expect(messages.trimEnd().split('\n')).toHaveLength(2);
  });

  it.each([['--help'], ['-h'], ['help']])('%s prints all commands', async (arg) => {
    const { code, output } = await operator.run([arg]);
    expect(code).toBe(0);
    for (const command of ['create', 'show', 'list', 'set', 'rotate', 'delete', 'users']) {
      expect(output).toContain(`  ${command}`);
    }
  });
});

describe('under npm', () => {
  const env = { ...process.env };
  beforeEach(() => {
    process.env = { ...env, npm_command: 'run', npm_config_local_prefix: operator.directory };
  });
  afterEach(() => {
    process.env = env;
  });
  const npmrc = (text: string) => writeFile(join(operator.directory, '.npmrc'), text);

  it.each([
    [['revoke', 'demo', 'Ann'], 'npm_config_dry_run', 'true', 'revoke … --dry-run'],
    [['set', 'demo', '5'], 'npm_config_subscribercap', 'true', 'set … --subscriber-cap'],
    [['delete', 'demo', '--json'], 'npm_config_yes', 'true', 'delete … --yes'],
    [['list'], 'npm_config_region', 'eu-west-1', 'list … --region'],
  ])('an option that npm took is refused: %j with %s', async (args, name, value, use) => {
    await npmrc('yes=false\n');
    process.env[name] = value;
    const { code, messages } = await callWithoutStack(args);
    expect(code).toBe(2);
    expect(messages).toContain(`Options go after --, as in npm run -s carillon -- ${use}: npm has`);
  });

  it.each([
    ['has it after --, too', ['revoke', 'demo', '--dry-run'], 'npm_config_dry_run', ''],
    ['does not have this option', ['list'], 'npm_config_dry_run', ''],
    ['has it in an .npmrc', ['delete', 'demo'], 'npm_config_yes', 'yes = true'],
    ['is told that it is off', ['delete', 'demo'], 'npm_config_yes', ''],
  ])('nothing is refused if the call %s', async (_, args, name, kept) => {
    await npmrc(kept);
    process.env[name] = kept === '' && args[0] === 'delete' ? '' : 'true';
    expect((await callWithoutStack(args)).messages).not.toContain('npm has taken');
  });

  it('npx has options of its own', async () => {
    Object.assign(process.env, { npm_command: 'exec', npm_config_yes: 'true' });
    expect((await callWithoutStack(['delete', 'demo'])).messages).toBe('no stack\n');
  });
});

// npm takes `--local`, too, and leaves no trace of it.
test('a call that names no stack is refused while a local stack runs here', async () => {
  const { code, messages } = await operator.run(['list']);
  expect(code).toBe(1);
  expect(messages).toBe(
    'A local stack is running here: use --local, or --stack Carillon for the deployed one.\n',
  );
});

it('every example of every help text is a right call', async () => {
  const examples = (await helpTexts()).flatMap(
    (help) => help.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? [],
  );
  const wrong: string[] = [];
  for (const example of examples) {
    const [, call = ''] = /^ {2}npm run -s carillon -- (.*?)(?: [<|] .*)?$/.exec(example) ?? [];
    const { code, messages } = await callWithoutStack(wordsOf(call));
    if (code === 2) wrong.push(`${example}: ${messages}`);
  }
  expect(examples.length).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});

describe('an error under --json', () => {
  it.each([
    [1, ['show', 'no-such-project', '--local', '--json'], 'project_not_found'],
    [1, ['delete', 'no-such-project', '--json', '--local'], 'confirmation_needed'],
    [2, ['create', 'a', '--json', '--bogus'], 'usage'],
  ])('ends with code %d and is printed as JSON: %j', async (exitCode, args, errorCode) => {
    const { code, output, messages } = await operator.run(args);
    expect({ code, output }).toEqual({ code: exitCode, output: '' });
    expect(JSON.parse(messages)).toEqual({
      error: { code: errorCode, message: expect.any(String) },
    });
  });
});

describe('a stored name with control characters', () => {
  // Clears the screen, sets a colour with the one-byte CSI, breaks the line, changes the direction.
  const name = `\u001b[2Jbells\u009b31m\n\u202e${'n'.repeat(300)}`;
  const escaped = `\\u001b[2Jbells\\u009b31m\\u000a\\u202e${'n'.repeat(300)}`;
  beforeEach(() =>
    operator.registry.create({ projectId, settings: { name }, random: randomBytes }),
  );

  it('is escaped and truncated by list', async () => {
    const { output } = await operator.runLocal(['list']);
    const [line] = output.split('\n').filter((one) => one.startsWith(projectId));
    expect(line).toContain(`  ${escaped.slice(0, 39)}…  `);
    expect(line).not.toContain(escaped.slice(0, 40));
  });

  it('is escaped by show', async () => {
    const { output } = await operator.runLocal(['show', projectId]);
    expect(output).toContain(`  ${escaped}\n`);
  });

  it.each([['show'], ['list']])(
    'is escaped by %s --json, which parses to the same name',
    async (command) => {
      const args = command === 'show' ? [projectId] : [];
      const { output } = await operator.runLocal([command, ...args, '--json']);
      expect(output).toContain('\\u009b31m\\n\\u202e');
      expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect([JSON.parse(output)].flat()).toContainEqual(
        expect.objectContaining({ settings: expect.objectContaining({ name }) }),
      );
    },
  );
});

test.each([
  ['--help', 0],
  ['unknown 2>&3', 2],
])('ends as always if nobody reads its output: carillon %s', (args, status) => {
  const command = `'${process.execPath}' --import tsx bin/carillon.ts`;
  const line = `exec 3> >(:); wait $!; exec ${command} ${args} >&3`;
  expect(spawnSync('bash', ['-c', line], { encoding: 'utf8' })).toMatchObject({
    status,
    stderr: '',
  });
});

test.each([
  ['--local'],
  ['--stack Carillon-dev --region eu-west-1'],
  // Needed while a local stack runs.
  ['--stack Carillon'],
  // The default stack needs no option.
  [''],
])('a command to type next is for the same stack: %j', async (options) => {
  const terminal = testTerminal();
  const connection = { registry: { async *list() {} }, settings: {}, close() {} } as never;
  const args = ['list', ...options.split(' ').filter(Boolean)];
  await runCarillon(args, terminal, '', async () => connection);
  expect(terminal.written().output).toBe(
    `No projects. Create one with: npm run -s carillon -- ${['create <projectId>', options].filter(Boolean).join(' ')}\n`,
  );
});
