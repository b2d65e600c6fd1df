import httpCors from '@middy/http-cors';
import { limits } from '../../contract/limits.ts';
import type { Route } from '../../contract/routes.ts';
import type { Middleware } from './response.ts';

/**
 * Lets pages of any origin call the route, and answers its preflight. Every origin is allowed,
 * because requests carry no cookies or other ambient credentials.
 */
export function cors({ corsMethods }: Required<Pick<Route, 'corsMethods'>>): Middleware {
  return httpCors({
    origin: '*',
    methods: corsMethods.join(', '),
    headers: 'Content-Type',
    exposeHeaders: 'Retry-After',
    maxAge: limits.preflightMaxAge,
    disableBeforePreflightResponse: false,
  });
}
