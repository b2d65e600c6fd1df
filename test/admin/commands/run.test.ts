import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProjects } from '../../../admin/commands/run.ts';
import { type ProjectRegistry, projectRegistry } from '../../../admin/project-registry.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { secretKeyPattern } from '../../../contract/limits.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

const baseUrl = 'http://127.0.0.1:4000';
const clock = () => new Date();

let database: Database;
let registry: ProjectRegistry;
let directory: string;
let stateFile: string;
let projectId: string;

beforeAll(async () => {
  database = await startDatabase();
  registry = projectRegistry(database.dynamo, projectTables(database.tables), clock);
  directory = await mkdtemp(join(tmpdir(), 'carillon-projects-'));
  stateFile = join(directory, 'local.json');
  await writeFile(stateFile, JSON.stringify(localState(database.endpoint)));
});
afterAll(async () => {
  await database.stop();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

function localState(endpoint: string) {
  return { baseUrl, dynamodb: { endpoint, tables: database.tables } };
}

/** Runs the command. @returns its exit code and its output. */
async function run(args: readonly string[], { typed, file = stateFile }: RunOptions = {}) {
  const terminal = testTerminal(typed === undefined ? {} : { isTTY: true, typed });
  const code = await runProjects(args, terminal, file);
  return { code, ...terminal.written() };
}

interface RunOptions {
  /** What the operator types. If absent, the streams are not a terminal. */
  readonly typed?: string;
  readonly file?: string;
}

const runLocal = (args: readonly string[], options?: RunOptions) =>
  run([...args, '--local'], options);

async function runJson(args: readonly string[]) {
  const { code, output, messages } = await runLocal([...args, '--json']);
  expect({ code, messages }).toEqual({ code: 0, messages: '' });
  return JSON.parse(output);
}

describe('create', () => {
  it('prints the API key card', async () => {
    const { code, output, messages } = await runLocal(['create', projectId]);
    const project = await registry.find(projectId);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toContain(`API key card of project "${projectId}"`);
    expect(output).toContain(project?.vapidPublicKey);
    expect(output).toContain(`${baseUrl}/api/v1/projects/${projectId}/notifications`);
  });

  it('prints the project, its secret key and the base URL as JSON', async () => {
    const args = ['--name', 'My bells', '--send-cap', '50', '--rate-limit', 'none'];
    const created = await runJson(['create', projectId, ...args, '--subscriber-cap', 'default']);
    expect(created).toEqual({
      projectId,
      name: 'My bells',
      applicationServerKey: expect.any(String),
      plan: { monthlySendCap: 50, rateLimitPerMinute: null },
      createdAt: expect.any(String),
      secretApiKey: expect.stringMatching(secretKeyPattern),
      baseUrl,
    });
  });

  it('accepts an existing VAPID pair', async () => {
    const { publicKey, privateKey } = newVapidPair();
    const flags = [`--vapid-public=${publicKey}`, `--vapid-private=${privateKey}`];
    const created = await runJson(['create', projectId, ...flags]);
    expect(created.applicationServerKey).toBe(publicKey);
  });

  it.each([
    ['is longer than 100 characters', 'n'.repeat(101)],
    ['has a line break', 'two\nlines'],
    ['has an escape sequence', '\u001b[31mred'],
    ['has a C1 control character', 'a\u009b31mb'],
    ['has a line separator', 'a\u2028b'],
    ['changes the text direction', 'a\u202eb'],
    ['has an unpaired surrogate', 'a\ud800b'],
  ])('refuses a name that %s', async (_case, name) => {
    const { code, messages } = await runLocal(['create', projectId, `--name=${name}`]);
    expect(code).toBe(2);
    expect(messages).toContain('is invalid. Use 1 to 100 characters without control characters.');
    expect(await registry.find(projectId)).toBeUndefined();
  });

  it('accepts a name of 100 characters in any script', async () => {
    const name = 'Übergrößenträger 鐘楼 🔔 '.padEnd(100, 'n');
    expect((await runJson(['create', projectId, `--name=${name}`])).name).toBe(name);
  });

  it('fails if the id is in use', async () => {
    await registry.create({ projectId, random: randomBytes });
    expect(await runLocal(['create', projectId])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" already exists.\n`,
    });
  });
});

describe('show', () => {
  it('prints limits and usage', async () => {
    await registry.create({ projectId, plan: { subscriberCap: 7 }, random: randomBytes });
    await subscriptionStore(database.dynamo, projectTables(database.tables), clock).save(
      projectId,
      subscription(),
      null,
    );
    const { code, output } = await runLocal(['show', projectId]);
    expect(code).toBe(0);
    expect(output).toMatch(/Subscribers +1 +limit: 7\n/);
    expect(output).toMatch(/Requests per minute +limit: default\n/);
    expect(await runJson(['show', projectId])).toMatchObject({
      projectId,
      plan: { subscriberCap: 7 },
      usage: { subscribers: 1, sends: 0 },
    });
  });

  it('prints no secret', async () => {
    const { secretKey } = await registry.create({ projectId, random: randomBytes });
    const { output } = await runLocal(['show', projectId, '--json']);
    expect(output).not.toContain(secretKey);
    expect(output).not.toMatch(/hash|private/i);
  });
});

describe('list', () => {
  it('prints projects in order of their ids', async () => {
    const ids = [`${projectId}-b`, `${projectId}-a`];
    for (const id of ids) await registry.create({ projectId: id, random: randomBytes });
    const { output } = await runLocal(['list']);
    expect(output.indexOf(`${projectId}-a`)).toBeGreaterThan(0);
    expect(output.indexOf(`${projectId}-a`)).toBeLessThan(output.indexOf(`${projectId}-b`));
    const listed: { projectId: string }[] = await runJson(['list']);
    expect(listed.map((project) => project.projectId)).toEqual(expect.arrayContaining(ids));
  });
});

describe('a stored name with control characters', () => {
  // Clears the screen, sets a colour with the one-byte CSI, breaks the line, changes the direction.
  const name = `\u001b[2Jbells\u009b31m\n\u202e${'n'.repeat(300)}`;
  const escaped = `\\u001b[2Jbells\\u009b31m\\u000a\\u202e${'n'.repeat(300)}`;
  beforeEach(() => registry.create({ projectId, name, random: randomBytes }));

  it('is escaped and truncated by list', async () => {
    const { output } = await runLocal(['list']);
    const [line] = output.split('\n').filter((one) => one.startsWith(projectId));
    expect(line).toContain(`  ${escaped.slice(0, 39)}…  `);
    expect(line).not.toContain(escaped.slice(0, 40));
  });

  it('is escaped by show', async () => {
    const { output } = await runLocal(['show', projectId]);
    expect(output).toContain(`  ${escaped}\n`);
  });

  it.each([['show'], ['list']])(
    'is escaped by %s --json, which parses to the same name',
    async (command) => {
      const args = command === 'show' ? [projectId] : [];
      const { output } = await runLocal([command, ...args, '--json']);
      expect(output).toContain('\\u009b31m\\n\\u202e');
      expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect([JSON.parse(output)].flat()).toContainEqual(expect.objectContaining({ name }));
    },
  );
});

describe('set-plan', () => {
  it('changes the given limits', async () => {
    const plan = { subscriberCap: 7, monthlySendCap: 8 };
    await registry.create({ projectId, plan, random: randomBytes });
    const flags = ['--subscriber-cap', 'default', '--rate-limit=9'];
    const changed = await runJson(['set-plan', projectId, ...flags]);
    expect(changed.plan).toEqual({ monthlySendCap: 8, rateLimitPerMinute: 9 });
    expect(await registry.find(projectId)).toMatchObject({ plan: changed.plan });
  });
});

describe('rotate-key', () => {
  it('prints a new secret key', async () => {
    const { secretKey } = await registry.create({ projectId, random: randomBytes });
    const { secretApiKey } = await runJson(['rotate-key', projectId]);
    expect(secretApiKey).toMatch(secretKeyPattern);
    expect(secretApiKey).not.toBe(secretKey);
  });

  it('keeps the previous key valid for the grace period', async () => {
    await registry.create({ projectId, random: randomBytes });
    const { previousKeyUntil } = await runJson(['rotate-key', projectId, '--grace', '24h']);
    const day = 24 * 60 * 60_000;
    expect(Math.abs(Date.parse(previousKeyUntil) - clock().getTime() - day)).toBeLessThan(60_000);
    const { output } = await runLocal(['show', projectId]);
    expect(output).toContain(`Previous key valid until  ${previousKeyUntil.slice(0, 10)}`);
  });

  it.each(['0h', '24', '1w', '31d', '-1h', '1.5h'])(
    'refuses a grace period of "%s"',
    async (grace) => {
      const { code, messages } = await runLocal(['rotate-key', projectId, `--grace=${grace}`]);
      expect(code).toBe(2);
      expect(messages).toContain(
        'is invalid. Use minutes, hours or days up to 30d, such as 30m, 24h or 7d.',
      );
    },
  );
});

describe('delete', () => {
  beforeEach(() => registry.create({ projectId, random: randomBytes }));

  it('deletes the project after the operator types its id', async () => {
    const { code, output, messages } = await runLocal(['delete', projectId], {
      typed: `${projectId}\n`,
    });
    expect(code).toBe(0);
    expect(messages).toContain('Type the project id to continue');
    expect(output).toBe(`Deleted "${projectId}" with 0 subscriptions and 0 notifications.\n`);
    expect(await registry.find(projectId)).toBeUndefined();
  });

  it.each([
    ['the operator types something else', 'yes\n'],
    ['the input ends', ''],
  ])('deletes nothing when %s', async (_case, typed) => {
    const { code, messages } = await runLocal(['delete', projectId], { typed });
    expect(code).toBe(1);
    expect(messages).toContain('Nothing was deleted.');
    expect(await registry.find(projectId)).toBeDefined();
  });

  it('needs --yes without a terminal', async () => {
    const { code, messages } = await runLocal(['delete', projectId]);
    expect(code).toBe(1);
    expect(messages).toBe('Cannot ask without a terminal. Use --yes to delete without asking.\n');
    expect(await registry.find(projectId)).toBeDefined();
  });

  it('does not ask with --yes', async () => {
    expect(await runJson(['delete', projectId, '--yes'])).toEqual({
      projectId,
      removed: { subscriptions: 0, notifications: 0, usage: 0 },
    });
    expect(await registry.find(projectId)).toBeUndefined();
  });
});

describe.each(['show', 'set-plan', 'rotate-key', 'delete'])('%s', (command) => {
  it('fails for an unknown project', async () => {
    const flags = { 'set-plan': ['--send-cap', '1'], delete: ['--yes'] }[command] ?? [];
    expect(await runLocal([command, projectId, ...flags])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" does not exist.\n`,
    });
  });
});

describe('a wrong call', () => {
  const { publicKey, privateKey } = newVapidPair();

  it.each([
    [[], 'Missing command: create, show, list, set-plan, rotate-key, delete.'],
    [['crate', 'x'], "Unknown command 'crate'. Did you mean create?"],
    [['frob'], "Unknown command 'frob'."],
    [['show'], "Missing required argument 'projectId'."],
    [['show', 'a', 'b'], "Too many arguments for 'show'."],
    [['list', 'a'], "Too many arguments for 'list'."],
    [
      ['show', 'Upper'],
      'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.',
    ],
    [['show', '-a'], "Unknown option '-a'."],
    [['create', 'a', '--subscribers-cap=3'], 'Did you mean --subscriber-cap?'],
    [['create', 'a', '--send-cap=0'], "argument '0' is invalid. Use a whole number above 0"],
    [['create', 'a', '--send-cap=1e3'], "argument '1e3' is invalid. Use a whole number above 0"],
    [['set-plan', 'a'], 'Nothing to change'],
    [['create', 'a', `--vapid-public=${publicKey}`], 'must be given together'],
    [
      [
        'create',
        'a',
        `--vapid-public=${newVapidPair().publicKey}`,
        `--vapid-private=${privateKey}`,
      ],
      'not a pair',
    ],
    [
      ['list', '--local', '--stack', 'Other'],
      "'--local' cannot be used with option '--stack <name>'",
    ],
  ])('%j ends with code 2, an error and a hint', async (args, message) => {
    const { code, output, messages } = await run(args);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(messages).toContain(message);
    expect(messages).toMatch(/\nSee: npm run -s projects -- .*--help\n$/);
    expect(messages.trimEnd().split('\n')).toHaveLength(2);
  });

  it.each([['--help'], ['-h'], ['help']])('%s prints all commands', async (arg) => {
    const { code, output } = await run([arg]);
    expect(code).toBe(0);
    for (const command of ['create', 'show', 'list', 'set-plan', 'rotate-key', 'delete']) {
      expect(output).toContain(`  ${command}`);
    }
  });

  it('create --help prints the options of create', async () => {
    const { code, output } = await run(['create', '--help']);
    expect(code).toBe(0);
    expect(output).toContain('npm run -s projects -- create [options] <projectId>');
    expect(output).toContain('--vapid-private <key>');
  });
});

describe('an error under --json', () => {
  it.each([
    [1, ['show', 'no-such-project', '--local', '--json'], 'project_not_found'],
    [1, ['delete', 'no-such-project', '--yes', '--json', '--local'], 'project_not_found'],
    [1, ['delete', 'no-such-project', '--json', '--local'], undefined],
    [2, ['show', '--json'], 'usage'],
    [2, ['crate', 'x', '--json'], 'usage'],
    [2, ['create', 'a', '--json', '--bogus'], 'usage'],
  ])('ends with code %d and is printed as JSON: %j', async (exitCode, args, errorCode) => {
    const { code, output, messages } = await run(args);
    expect({ code, output }).toEqual({ code: exitCode, output: '' });
    expect(JSON.parse(messages)).toEqual({
      error: { ...(errorCode && { code: errorCode }), message: expect.any(String) },
    });
  });

  it('has the message of the text', async () => {
    await registry.create({ projectId, random: randomBytes });
    const { messages } = await runLocal(['create', projectId, '--json']);
    expect(JSON.parse(messages)).toEqual({
      error: { code: 'project_exists', message: `Project "${projectId}" already exists.` },
    });
  });
});

test('control characters of an argument are escaped', async () => {
  const { messages } = await run(['\u001b[2J']);
  expect(messages).toContain("Unknown command '\\u001b[2J'.");
});

describe('a local stack', () => {
  it('must be running', async () => {
    const { code, messages } = await runLocal(['list'], { file: join(directory, 'none.json') });
    expect(code).toBe(1);
    expect(messages).toBe('No local stack is running in this folder. Start one with: npm start\n');
  });

  it('must have a valid state file', async () => {
    const file = join(directory, 'broken.json');
    await writeFile(file, '{"baseUrl":');
    const { code, messages } = await runLocal(['list'], { file });
    expect(code).toBe(1);
    expect(messages).toContain('is malformed. Start the local stack again');
  });

  it('must respond', async () => {
    const file = join(directory, 'ended.json');
    await writeFile(file, JSON.stringify(localState(await unusedOrigin())));
    const { code, messages } = await runLocal(['list'], { file });
    expect(code).toBe(1);
    expect(messages).toBe('The local stack does not respond. Start it again with: npm start\n');
  });
});

describe('a deployed stack', () => {
  const names = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_PROFILE',
    'AWS_REGION',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_EC2_METADATA_DISABLED',
    'AWS_ENDPOINT_URL_CLOUDFORMATION',
    'AWS_ENDPOINT_URL_DYNAMODB',
  ];
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  let cloudFormation: Awaited<ReturnType<typeof startCloudFormation>>;

  beforeEach(async () => {
    cloudFormation = await startCloudFormation();
    for (const name of names) delete process.env[name];
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CONFIG_FILE: join(directory, 'no-config'),
      AWS_SHARED_CREDENTIALS_FILE: join(directory, 'no-credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.origin,
      AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    });
  });
  afterEach(async () => {
    for (const name of names) delete process.env[name];
    for (const [name, value] of Object.entries(before)) {
      if (value !== undefined) process.env[name] = value;
    }
    await cloudFormation.stop();
  });

  const outputs = () => ({
    ApiUrl: 'https://api.example/',
    ProjectsTable: database.tables.PROJECTS_TABLE,
    VapidKeysTable: database.tables.VAPID_KEYS_TABLE,
    SubscriptionsTable: database.tables.SUBSCRIPTIONS_TABLE,
    UsageTable: database.tables.USAGE_TABLE,
    NotificationsTable: database.tables.NOTIFICATIONS_TABLE,
  });

  it('is read from the outputs of its CloudFormation stack', async () => {
    cloudFormation.respondWith(200, describedStack(outputs()));
    const { code, output } = await run(['create', projectId, '--region', 'eu-west-1', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ projectId, baseUrl: 'https://api.example' });
    expect(await registry.find(projectId)).toBeDefined();
    expect(cloudFormation.lastBody()).toContain('StackName=Carillon&');
  });

  it('is chosen with --stack', async () => {
    cloudFormation.respondWith(200, describedStack(outputs()));
    await run(['list', '--region', 'eu-west-1', '--stack', 'Carillon-dev']);
    expect(cloudFormation.lastBody()).toContain('StackName=Carillon-dev&');
  });

  it.each([
    ['ValidationError', 'Stack "Carillon" does not exist in eu-west-1.'],
    [
      'AccessDenied',
      'These AWS credentials are not allowed to describe stack "Carillon" in eu-west-1.',
    ],
    ['ExpiredToken', 'The AWS credentials are expired or invalid. Sign in again.'],
  ])('fails in one line if CloudFormation returns %s', async (errorCode, message) => {
    cloudFormation.respondWith(400, errorResponse(errorCode));
    const { code, output, messages } = await run(['list', '--region', 'eu-west-1']);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(messages).toContain(message);
    expect(messages.trimEnd().split('\n')).toHaveLength(1);
  });

  it('must have all outputs', async () => {
    cloudFormation.respondWith(200, describedStack({ ...outputs(), UsageTable: '' }));
    const { code, messages } = await run(['list', '--region', 'eu-west-1']);
    expect(code).toBe(1);
    expect(messages).toContain('is missing the outputs UsageTable');
  });

  it('needs a region', async () => {
    const { code, messages } = await run(['list']);
    expect(code).toBe(1);
    expect(messages).toBe(
      'No AWS region is set. Use --region or set AWS_REGION. For a local stack, use --local.\n',
    );
  });

  it('needs credentials', async () => {
    delete process.env.AWS_ACCESS_KEY_ID;
    const { code, messages } = await run(['list', '--region', 'eu-west-1']);
    expect(code).toBe(1);
    expect(messages).toContain('No AWS credentials found.');
  });
});

/** A server that returns the given responses of CloudFormation's Query API. */
async function startCloudFormation() {
  let prepared = { status: 500, body: '' };
  let received = '';
  const server = createServer(async (request, response) => {
    received = '';
    for await (const chunk of request.setEncoding('utf8')) received += chunk;
    response.writeHead(prepared.status, { 'content-type': 'text/xml' });
    response.end(prepared.body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    respondWith(status: number, body: string) {
      prepared = { status, body };
    },
    lastBody: () => `${received}&`,
    stop() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}

function describedStack(outputs: Readonly<Record<string, string>>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return (
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">' +
    '<DescribeStacksResult><Stacks><member><StackName>Carillon</StackName>' +
    '<CreationTime>2026-11-20T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>' +
    `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult>` +
    '</DescribeStacksResponse>'
  );
}

function errorResponse(code: string): string {
  return (
    '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">' +
    `<Error><Type>Sender</Type><Code>${code}</Code><Message>No.</Message></Error></ErrorResponse>`
  );
}

/** An origin on which no server listens. */
async function unusedOrigin(): Promise<string> {
  const server = createTcpServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}
