/**
 * Which URLs are accepted as endpoints. Endpoints come from strangers, and the send function connects
 * to them: this list decides what anyone can make it connect to.
 */

/** The known push services, by the host of their endpoints. A leading dot means every subdomain. */
const pushServices = {
  'fcm.googleapis.com': 'fcm', // Chrome, Brave, Opera, Samsung Internet, Edge on Android
  'jmt17.google.com': 'jmt17', // Every channel of Chromium except Stable
  'updates.push.services.mozilla.com': 'mozilla', // Firefox
  '.notify.windows.com': 'wns', // Edge
  '.push.apple.com': 'apple', // Safari
} as const;

export const pushServiceHosts = Object.keys(pushServices);

/**
 * Names the push service at an origin. All hosts of a push service have one name; an extra origin is
 * a push service by itself, named by its origin.
 * @param origin compared as text: another spelling than a URL parser's could change the host when a
 *   path is appended ("https://a.example" and "@b").
 * @param extraOrigins origins accepted besides {@link pushServiceHosts}, with scheme and port.
 * @returns undefined if the origin is not accepted.
 */
export function pushServiceOf(origin: string, extraOrigins: readonly string[]): string | undefined {
  const host = origin.startsWith('https://') ? origin.slice('https://'.length) : '';
  const known = Object.entries(pushServices).find(([accepted]) => isAt(accepted, host));
  return known?.[1] ?? extraOrigins.find((extra) => extra === origin);
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
  if ('refusal' in url || pushServiceOf(url.origin, extraOrigins) !== undefined) return url;
  if (url.protocol !== 'https:') return { refusal: 'must be an https URL' };
  if (url.port !== '') return { refusal: 'must use the default port' };
  return { refusal: `must be on a known push service; "${url.hostname}" is not one` };
}

// The parsed host is compared, never a pattern over the whole URL: an unanchored pattern would accept
// https://127.0.0.1/fcm.googleapis.com.
function isAt(accepted: string, host: string): boolean {
  if (!accepted.startsWith('.')) return host === accepted;
  return host.endsWith(accepted) && isSubdomain(host.slice(0, -accepted.length));
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
