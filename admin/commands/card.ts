import { pathOf, routes } from '../../contract/routes.ts';
import { type Paint, plain } from '../terminal/terminal.ts';

export interface CardProject {
  readonly projectId: string;
  readonly applicationServerKey: string;
  readonly secretApiKey: string;
}

/**
 * The API key card: all that an owner needs to start, with code to copy. Only the card contains
 * the secret key, because the service stores only its hash.
 * @param baseUrl address of the API, without a trailing slash.
 */
export function projectCard(project: CardProject, baseUrl: string, paint: Paint = plain): string {
  const { projectId, applicationServerKey, secretApiKey } = project;
  const sendUrl = baseUrl + pathOf(routes.send, { projectId });
  const heading = (text: string) => paint('bold', text);
  const field = (label: string, value: string) => `  ${paint('dim', label.padEnd(22))}  ${value}`;
  return [
    heading(`API key card of project "${projectId}"`),
    '',
    field('Project id', projectId),
    field('Base URL', baseUrl),
    field('Application server key', paint('cyan', applicationServerKey)),
    field('Secret key', paint('yellow', secretApiKey)),
    '',
    `  ${paint('yellow', 'The secret key is shown only once.')} Keep it on your server, never in a browser.`,
    '',
    heading('In your page'),
    '',
    '<script src="/carillon.js"></script>',
    '<script>',
    '  const push = Carillon.init({',
    `    baseUrl: '${baseUrl}',`,
    `    projectId: '${projectId}',`,
    `    applicationServerKey: '${applicationServerKey}',`,
    '  });',
    '  // Call in a click handler, or browsers do not ask for permission: await push.subscribe();',
    '</script>',
    '',
    heading('On your server'),
    '',
    `curl -X POST '${sendUrl}' \\`,
    `  -H 'Authorization: Bearer ${secretApiKey}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{ "title": "Hello", "body": "The first of many." }'`,
    '',
  ].join('\n');
}
