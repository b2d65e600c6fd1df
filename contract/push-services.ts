/**
 * Which URLs are accepted as endpoints. Endpoints come from strangers, and the send function connects
 * to them: this list decides what anyone can make it connect to.
 */

/** Hosts of browsers' endpoints. A leading dot accepts every subdomain. */
export const pushServiceHosts = [
  'fcm.googleapis.com', // Chrome, Brave, Opera, Samsung Internet, Edge on Android
  'jmt17.google.com', // Chromium builds without Google's keys
  'updates.push.services.mozilla.com', // Firefox
  '.notify.windows.com', // Edge
  '.push.apple.com', // Safari
] as const;

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
  if (url.protocol !== 'https:') return { refusal: 'must be an https URL' };
  if (url.port !== '') return { refusal: 'must use the default port' };
  if (!isPushServiceHost(url.hostname)) {
    return { refusal: `must be on a known push service; "${url.hostname}" is not one` };
  }
  return url;
}

// The parsed host is compared, never a pattern over the whole URL: an unanchored pattern would accept
// https://127.0.0.1/fcm.googleapis.com.
function isPushServiceHost(hostname: string): boolean {
  return pushServiceHosts.some((host) =>
    host.startsWith('.')
      ? hostname.endsWith(host) && isSubdomain(hostname.slice(0, -host.length))
      : hostname === host,
  );
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
