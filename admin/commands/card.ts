import { pathOf } from '../../contract/path-of.ts';
import { routes } from '../../contract/routes.ts';
import { sdkSource } from '../calls.ts';
import { fieldLines } from '../terminal/fields.ts';
import { type Paint, plain } from '../terminal/terminal.ts';

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
    `npm install ./carillon-*.tgz    # ${sdkSource}`,
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
