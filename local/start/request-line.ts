import { type Paint, plain } from '../../admin/terminal/terminal.ts';
import { projectIdSchema } from '../../contract/schemas/fields.ts';
import type { AccessLine } from '../gateway/gateway.ts';

/** The line that is printed for a request: `POST /api/v1/projects/demo → 201  12 ms`. */
export function requestLine(
  {
    method,
    match,
    status,
    durationMs,
  }: Pick<AccessLine, 'method' | 'match' | 'status' | 'durationMs'>,
  paint: Paint = plain,
): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const duration = paint('dim', `${Math.round(durationMs)} ms`);
  return `${method} ${pathOf(match)} → ${paint(colour, String(status))}  ${duration}`;
}

/**
 * The route's path with the project id, which is public. The rest of the URL is left out: it may
 * contain a notification id, an endpoint, or by mistake a secret key.
 */
function pathOf(match: AccessLine['match']): string {
  if (match === undefined) return '(no route)';
  const { route, parameters } = match;
  const { data: projectId } = projectIdSchema.safeParse(parameters.projectId);
  return `/${route.segments.join('/')}`.replace('{projectId}', projectId ?? '{projectId}');
}
