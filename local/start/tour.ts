import { type Paint, plain } from '../../admin/terminal/terminal.ts';
import { routes } from '../../contract/routes.ts';
import type { LocalState } from './state-file.ts';

/** A simulated browser of the local push service. */
export interface TourBrowser {
  readonly id: string;
  /** The result of `PushSubscription.toJSON()`. */
  readonly subscription: { readonly endpoint: string };
}

/**
 * The demo project's addresses and keys, and curl commands for the service's main job, to be pasted
 * in this order.
 */
export function tour(
  { baseUrl, pushService, project }: Pick<LocalState, 'baseUrl' | 'pushService' | 'project'>,
  { id, subscription }: TourBrowser,
  paint: Paint = plain,
): string {
  const { projectId, applicationServerKey, secretKey } = project;
  const urlOf = (path: string) => `${baseUrl}${path.replace('{projectId}', projectId)}`;
  const events = urlOf(routes.track.path).replace('{notificationId}', '$ID');
  const field = (label: string, value: string) => `  ${paint('dim', label.padEnd(22))}  ${value}`;
  const step = (text: string, ...lines: string[]) =>
    [`  ${paint('dim', `# ${text}`)}`, ...lines.map((line) => `  ${line}`), ''].join('\n');
  const json = `-H 'Content-Type: application/json'`;
  const message = JSON.stringify({ title: 'Hello', body: 'Your first notification.' });

  return [
    paint('bold', `Project "${projectId}"`),
    field('API', baseUrl),
    field('Push service', pushService),
    field('Application server key', applicationServerKey),
    field('Secret key', secretKey),
    '',
    paint('bold', 'Try it: paste these commands'),
    step(
      'A simulated browser subscribes.',
      `curl -X POST '${urlOf(routes.subscribe.path)}' ${json} \\`,
      `  -d '${JSON.stringify(subscription)}'; echo`,
    ),
    step(
      'Send to every subscriber. The response has the counts.',
      `SENT=$(curl -s -X POST '${urlOf(routes.send.path)}' ${json} \\`,
      `  -H 'Authorization: Bearer ${secretKey}' \\`,
      `  -d '${message}'); printf '%s\\n' "$SENT"`,
      `ID=$(printf '%s' "$SENT" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`,
    ),
    step(
      'Print the decrypted messages of the browser.',
      `curl '${pushService}/browsers/${id}/messages'; echo`,
    ),
    step(
      'Its service worker reports that the notification was shown and clicked.',
      `curl -X POST "${events}" ${json} -d '{"type":"shown"}'; echo`,
      `curl -X POST "${events}" ${json} -d '{"type":"clicked"}'; echo`,
    ),
    step(
      'The browser unsubscribes.',
      `curl -X DELETE '${urlOf(routes.unsubscribe.path)}?endpoint=${encodeURIComponent(subscription.endpoint)}'; echo`,
    ),
  ].join('\n');
}
