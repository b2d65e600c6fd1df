import httpCors from '@middy/http-cors';
import { limits } from '../../contract/limits.ts';
import type { Route } from '../../contract/routes.ts';
import type { Step } from './reply.ts';

/**
 * Lets pages of any origin use the route, and answers its preflight. Any origin will do, since no
 * cookie or other ambient authority is involved.
 */
export function cors({ corsMethods }: Required<Pick<Route, 'corsMethods'>>): Step {
  return httpCors({
    origin: '*',
    methods: corsMethods.join(', '),
    headers: 'Content-Type',
    exposeHeaders: 'Retry-After',
    maxAge: limits.preflightMaxAge,
    disableBeforePreflightResponse: false,
  });
}
