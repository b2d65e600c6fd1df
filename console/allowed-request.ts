import type { IncomingHttpHeaders } from 'node:http';

/** The names under which this machine reaches the console. */
export function localHosts(port: number | string): readonly string[] {
  return [`localhost:${port}`, `127.0.0.1:${port}`];
}

/**
 * Whether a request comes from the console's page, a tool or the address bar, and not from another
 * site. The host is checked because another site's name may resolve to this machine (DNS rebinding).
 * Pages cannot set these headers; tools send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function isAllowedRequest(
  { host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  hosts: readonly string[],
): boolean {
  return (
    hosts.includes(host) &&
    (origin === undefined || origin === `http://${host}`) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
}
