import { type RouteName, routes } from './routes.ts';

type Routes = typeof routes;

/** The routes that need a key. */
type KeyRouteName = {
  [Name in RouteName]: Routes[Name] extends { readonly caller: 'owner' } ? Name : never;
}[RouteName];

/**
 * Where each route that needs a key is called, for the SDK's client for servers. Its bundle has the values instead of
 * this file and what they are made from: see `sdk/build/bundle.ts`.
 */
export const routeAddresses = Object.fromEntries(
  Object.values(routes)
    .filter(({ caller }) => caller === 'owner')
    .map(({ name, method, path }) => [name, { method, path }]),
) as { readonly [Name in KeyRouteName]: Pick<Routes[Name], 'method' | 'path'> };
