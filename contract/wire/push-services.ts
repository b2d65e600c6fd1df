/**
 * Which URLs are accepted as endpoints. Endpoints come from strangers, and the send function connects
 * to them: this list decides what anyone can make it connect to.
 */

/** The push services that are known by name, by their hosts. `*` stands for the rest of a label. */
const pushServices = {
  'fcm.googleapis.com': 'fcm', // Chrome, Brave, Opera, Samsung Internet, Edge on Android
  'jmt17.google.com': 'jmt17', // Every channel of Chromium except Stable
  'updates.push.services.mozilla.com': 'mozilla', // Firefox
  'wns2-*.notify.windows.com': 'wns', // Edge
  'web.push.apple.com': 'apple', // Safari
} as const;

/** Every other host below these: nobody knows what is there. */
const domains = ['.notify.windows.com', '.push.apple.com'] as const;

export const pushServiceHosts = [
  ...Object.keys(pushServices),
  ...domains.map((domain) => `*${domain}`),
];

/** The class of the hosts that are accepted and not known by name. They share few connections. */
export const otherHosts = 'other';

/**
 * Names the push service at an origin. An extra origin is a push service by itself, named by its origin.
 * @param origin compared as text: another spelling than a URL parser's could change the host when a
 *   path is appended ("https://a.example" and "@b").
 * @param extraOrigins origins accepted besides {@link pushServiceHosts}, with scheme and port.
 * @returns `other` for a host that is not known by name; undefined if the origin is not accepted.
 */
export function pushServiceOf(origin: string, extraOrigins: readonly string[]): string | undefined {
  const host = hostIn(origin);
  const known = Object.entries(pushServices).find(([pattern]) => matches(pattern, host));
  if (known !== undefined) return known[1];
  if (extraOrigins.includes(origin)) return origin;
  return domainOf(origin) === undefined ? undefined : otherHosts;
}

/**
 * Names what has a queue of its own, and a place in a slice that it may be behind: a push service, the hosts that are
 * not known by name, or `none`, the origins that are not accepted.
 * @param extraOrigins those that were accepted when the notification was sent, so that nobody changes the class.
 */
export function classesOf(extraOrigins: readonly string[]): (origin: string) => string {
  const classes = new Map<string, string>();
  return (origin) => {
    let name = classes.get(origin);
    if (name === undefined) {
      name = pushServiceOf(origin, extraOrigins) ?? 'none';
      classes.set(origin, name);
    }
    return name;
  };
}

/** The domain whose owner names all hosts below it, if the origin is below one. */
export function domainOf(origin: string): string | undefined {
  return domains.find((domain) => isBelow(domain, hostIn(origin)));
}

function hostIn(origin: string): string {
  return origin.startsWith('https://') ? origin.slice('https://'.length) : '';
}

/** Why a URL is refused, for the person who sent it. */
type Refusal = { readonly refusal: string };

/**
 * Parses a URL that could be an endpoint. Its `href` is the spelling that is stored.
 */
export function readEndpointUrl(text: string): URL | Refusal {
  if (!URL.canParse(text)) return { refusal: 'must be an absolute URL' };
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { refusal: 'must be an https URL' };
  }
  if (url.username !== '' || url.password !== '') {
    return { refusal: 'must not carry a user name or password' };
  }
  if (url.hash !== '' || text.includes('#')) return { refusal: 'must not carry a fragment' };
  return url;
}

/**
 * Parses an endpoint of a known push service.
 * @param extraOrigins origins accepted besides {@link pushServiceHosts}, with scheme and port.
 */
export function readEndpoint(text: string, extraOrigins: readonly string[]): URL | Refusal {
  const url = readEndpointUrl(text);
  if ('refusal' in url || extraOrigins.includes(url.origin)) return url;
  if (pushServiceOf(url.origin, []) !== undefined) {
    const refusal = misspelled(url);
    return refusal === undefined ? url : { refusal };
  }
  if (url.protocol !== 'https:') return { refusal: 'must be an https URL' };
  if (url.port !== '') return { refusal: 'must use the default port' };
  return { refusal: `must be on a known push service; "${url.hostname}" is not one` };
}

// The parsed host is compared, never a pattern over the whole URL: an unanchored pattern would accept
// https://127.0.0.1/fcm.googleapis.com.
function matches(pattern: string, host: string): boolean {
  const [before, after] = pattern.split('*') as [string, string?];
  if (after === undefined) return host === pattern;
  if (!host.startsWith(before) || !host.endsWith(after)) return false;
  return /^[a-z0-9]+$/.test(host.slice(before.length, -after.length));
}

function isBelow(domain: string, host: string): boolean {
  return host.endsWith(domain) && isSubdomain(host.slice(0, -domain.length));
}

const label = '(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const labels = new RegExp(`^${label}(?:\\.${label})*$`);

/**
 * Whether text consists of valid host labels (RFC 1123 §2.1): a URL may also have others, such as
 * empty ones. No push service has internationalised labels.
 */
function isSubdomain(text: string): boolean {
  return text.length <= 200 && labels.test(text);
}

/**
 * A token of WNS, which is base64: with `+`, `/` and `=` as they are, or percent-encoded in digits of one case. Edge has
 * the latter.
 */
const wnsQuery = /^\?token=(?:[\w+/=-]+|(?:[\w-]|%2b|%2f|%3d)+|(?:[\w-]|%2B|%2F|%3D)+)$/;

/**
 * What makes an endpoint of a known push service another spelling of one that a browser has. Each spelling would be a
 * subscriber by itself.
 */
function misspelled({ href, origin, pathname, search }: URL): string | undefined {
  if (/%|\/\//.test(pathname)) return 'must have a path without "%" and "//", as browsers have it';
  if (origin.endsWith('.notify.windows.com')) {
    return wnsQuery.test(search)
      ? undefined
      : 'must have the query "?token=…" only, as Edge has it';
  }
  return href.includes('?') ? 'must not have a query' : undefined;
}
