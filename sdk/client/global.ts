import { CarillonError, init, version } from './carillon.ts';

/** The classic script sets `window.Carillon`. */

const client = { CarillonError, init, version };

declare global {
  // With `var`, both `Carillon` and `window.Carillon` have the type.
  var Carillon: typeof client;
}

window.Carillon = client;
