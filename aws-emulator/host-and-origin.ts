import type { IncomingMessage } from 'node:http';

/** The used members of a request. */
export type CheckedRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'localPort'>;
};

/** Tells a person why the request was refused. */
export const refusalText =
  'Only this machine may call this address, as localhost or 127.0.0.1, and no page of another origin.';

/**
 * Whether a request to a server on this machine comes from its own page, a tool or the address bar, and
 * not from another page: any page in a browser here can send requests to 127.0.0.1. The host is checked
 * because another site's name may resolve to this machine (DNS rebinding). Pages cannot set these
 * headers; tools send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function isAllowedRequest({
  headers: { host = '', origin, 'sec-fetch-site': site },
  socket: { localPort },
}: CheckedRequest): boolean {
  return (
    (host === `localhost:${localPort}` || host === `127.0.0.1:${localPort}`) &&
    // `ws:` is the origin of Firefox itself when it connects to its push service; no page has it.
    (origin === undefined || origin === `http://${host}` || origin === `ws://${host}/`) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
}
