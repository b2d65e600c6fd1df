import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { pathOf } from '../../contract/text/addresses.ts';
import type { VapidKeys } from '../../contract/wire/project.ts';
import { routes } from '../../contract/wire/routes.ts';
import { sdkSource } from '../calls.ts';
import { readSecret } from '../terminal/ask.ts';
import { fieldLines } from '../terminal/table.ts';
import { type Paint, plain, type Terminal } from '../terminal/terminal.ts';
import { InvalidVapidPair, readVapidPair } from '../vapid-pair.ts';
import { projectCommand, type RunOnStack } from './command.ts';
import { addSettingOptions, readNewSettings, type SettingOptions } from './set.ts';
import { projectJson } from './show.ts';

type CreateOptions = SettingOptions & {
  readonly vapidPublic?: string;
  readonly vapidPrivateFile?: string;
};

export function createCommand(runOnStack: RunOnStack, { input }: Terminal): Command {
  const command = addSettingOptions(
    projectCommand(
      'create',
      'Creates a project and prints its API key card.',
      'my-site --name "My site"',
      'my-site --subscriber-cap 5000 --send-cap none',
      'my-site --user-ids signed',
      'my-site --vapid-private-file private-key.pem',
      'my-site --local --json',
    ),
  )
    .option(
      '--vapid-private-file <file>',
      'file with an existing private VAPID key, as base64url, hex, PEM or JSON; - reads standard input',
    )
    .option('--vapid-public <key>', 'application server key of that pair, to compare')
    .action(async (projectId: string, options: CreateOptions) => {
      const { vapidPublic, vapidPrivateFile } = options;
      const settings = readNewSettings(command, options);
      if (vapidPublic !== undefined && vapidPrivateFile === undefined) {
        command.error('--vapid-public and --vapid-private-file must be given together');
      }
      const vapid = vapidPrivateFile
        ? await readPair(command, input, vapidPrivateFile, vapidPublic)
        : undefined;
      await runOnStack(async ({ registry, settings: deployed, baseUrl, paint, print }) => {
        const { project, secretKey, identityKey } = await registry.create({
          projectId,
          settings,
          deployedCap: deployed.SUBSCRIBER_CAP,
          random: randomBytes,
          ...(vapid && { vapid }),
        });
        const created = { ...projectJson(project), secretKey, identityKey, baseUrl };
        print(created, `\n${projectCard(created, baseUrl, paint)}\n`);
      });
    });
  return command;
}

/**
 * Reads a VAPID pair from a file with its private key. A pair that is wrong is a wrong call.
 * @param publicKey is compared.
 */
export async function readPair(
  command: Command,
  input: Terminal['input'],
  file: string,
  publicKey?: string,
): Promise<VapidKeys> {
  try {
    return readVapidPair(publicKey, await readSecret(file, input));
  } catch (error) {
    if (error instanceof InvalidVapidPair) command.error(error.message);
    throw error;
  }
}

export interface CardProject {
  readonly projectId: string;
  readonly applicationServerKey: string;
  readonly secretKey: string;
  readonly identityKey: string;
}

/**
 * The API key card: all that an owner needs to start, with code to copy. Only the card contains
 * the secret key, because the service stores only its hash.
 * @param baseUrl address of the API, without a trailing slash.
 */
export function projectCard(project: CardProject, baseUrl: string, paint: Paint = plain): string {
  const { projectId, applicationServerKey, secretKey, identityKey } = project;
  const sendUrl = baseUrl + pathOf(routes.send, { projectId });
  const heading = (text: string) => paint('bold', text);
  const fields = [
    ['Project id', projectId],
    ['Base URL', baseUrl],
    ['Application server key', paint('cyan', applicationServerKey)],
    ['Secret key', paint('yellow', secretKey)],
    ['Identity key', paint('yellow', identityKey)],
  ] as const;
  const options = [
    `  baseUrl: '${baseUrl}',`,
    `  projectId: '${projectId}',`,
    `  applicationServerKey: '${applicationServerKey}',`,
  ];
  return [
    heading(`API key card of project "${projectId}"`),
    '',
    fieldLines(fields, paint),
    `  ${paint('yellow', 'The secret key is shown only once.')} Keep it on your server, never in a browser.`,
    '  The identity key belongs there too. It signs user ids: see docs/user-ids.md.',
    '',
    heading('In your site'),
    '',
    `npm install ./carillon-[0-9]*.tgz    # ${sdkSource}`,
    'cp node_modules/carillon/carillon-sw.js public/    # the folder that your site serves at /',
    '',
    "import { init } from 'carillon';",
    'const push = init({',
    ...options,
    '});',
    '',
    '# Without a bundler: copy carillon.js and carillon-sw.js of the package to the root of your site.',
    '<script src="/carillon.js"></script>',
    '<script>',
    '  const push = Carillon.init({',
    ...options.map((line) => `  ${line}`),
    '  });',
    '</script>',
    '',
    '# Call in a click handler, or browsers do not ask for permission:',
    'await push.subscribe();',
    '',
    heading('On your server'),
    '',
    // Every user of the machine can see arguments.
    `curl -X POST '${sendUrl}' -H @- \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{ "title": "Hello", "body": "The first of many." }' << 'END'`,
    `Authorization: Bearer ${secretKey}`,
    'END',
    '',
  ].join('\n');
}
