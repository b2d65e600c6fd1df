import { type RouteName, routes } from './routes.ts';

/**
 * Where each route is called, for the SDK's client for servers. Its bundle has the values instead of this file and what
 * they are made from: see `sdk/build/bundle.ts`.
 */
export const routeAddresses = Object.fromEntries(
  Object.values(routes).map(({ name, method, path }) => [name, { method, path }]),
) as { readonly [Name in RouteName]: Pick<(typeof routes)[Name], 'method' | 'path'> };
