import { pathOf, routes } from '../../contract/routes.ts';
import { type Paint, plain } from '../terminal/terminal.ts';

export interface CardProject {
  readonly projectId: string;
  readonly applicationServerKey: string;
  readonly secretApiKey: string;
}

/**
 * The API key card: what an owner needs to start, with snippets that work when pasted. The only
 * place that shows a secret key, because only its hash is stored.
 * @param baseUrl address of the API, without a slash at its end.
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
    `  ${paint('yellow', 'The secret key is shown this once.')} Keep it on your server, never in a browser.`,
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
    '  // In a click, since browsers ask for permission only then: await push.subscribe();',
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
