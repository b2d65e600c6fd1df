import { CarillonError, init, version } from './carillon.ts';

/** The classic script sets `window.Carillon`. */

const client = { CarillonError, init, version };

declare global {
  interface Window {
    Carillon: typeof client;
  }
}

window.Carillon = client;
