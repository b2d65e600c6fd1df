import httpCors from '@middy/http-cors';
import { limits } from '../../contract/limits.ts';
import { type Route, routes } from '../../contract/routes.ts';
import type { Middleware } from './response.ts';

/**
 * Lets pages of any origin call the route, and answers its preflight. Every origin is allowed,
 * because requests carry no cookies or other ambient credentials.
 */
export function cors({ path }: Route & { readonly caller: 'browser' }): Middleware {
  const methods = Object.values<Route>(routes)
    .filter((route) => route.path === path && route.caller === 'browser')
    .map(({ method }) => method);
  return httpCors({
    origin: '*',
    methods: methods.join(', '),
    headers: 'Content-Type',
    exposeHeaders: 'Retry-After',
    maxAge: limits.preflightMaxAge,
    disableBeforePreflightResponse: false,
  });
}
