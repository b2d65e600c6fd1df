import { type Paint, plain } from '../../admin/terminal/terminal.ts';
import { projectIdSchema } from '../../contract/schemas.ts';
import type { AccessLine } from '../gateway/gateway.ts';

/** One answered request as one line: `POST /api/v1/projects/demo → 201  12 ms`. */
export function requestLine(
  { method, match, status, milliseconds }: AccessLine,
  paint: Paint = plain,
): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const duration = paint('dim', `${Math.round(milliseconds)} ms`);
  return `${method} ${pathOf(match)} → ${paint(colour, String(status))}  ${duration}`;
}

/**
 * The route's path with the project's id, which is public. Nothing else of a URL: it may hold a
 * secret key by mistake, a notification's id, or an endpoint.
 */
function pathOf(match: AccessLine['match']): string {
  if (match === undefined) return '(no route)';
  const { route, parameters } = match;
  const { data: projectId } = projectIdSchema.safeParse(parameters.projectId);
  return `/${route.segments.join('/')}`.replace('{projectId}', projectId ?? '{projectId}');
}
