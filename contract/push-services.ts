/**
 * Which URLs are endpoints of a push service. Endpoints come from strangers, and the send function
 * posts to them: whatever passes here is what the service can be made to connect to.
 */

/** Hosts that browsers hand out endpoints on; a leading dot admits every subdomain. */
export const pushServiceHosts = [
  'fcm.googleapis.com', // Chrome, Brave, Opera, Samsung Internet, Edge on Android
  'jmt17.google.com', // Chromium builds without Google's keys
  'updates.push.services.mozilla.com', // Firefox
  '.notify.windows.com', // Edge
  '.push.apple.com', // Safari
] as const;

/** Why a text is not an endpoint, in words for the person who sent it. */
type Refusal = { readonly refusal: string };

/**
 * Reads a URL that could be an endpoint, in the one spelling it is stored under.
 * A URL with a user name or a fragment is none: browsers hand out neither.
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
 * Reads an endpoint of a known push service.
 * @param extraOrigins origins admitted besides {@link pushServiceHosts}, scheme and port included.
 */
export function readEndpoint(text: string, extraOrigins: readonly string[]): URL | Refusal {
  const url = readEndpointUrl(text);
  if ('refusal' in url || extraOrigins.includes(url.origin)) return url;
  if (url.protocol !== 'https:') return { refusal: 'must be an https URL' };
  if (url.port !== '') return { refusal: 'must use the default port' };
  if (!isPushServiceHost(url.hostname)) {
    return { refusal: `must be on a known push service; "${url.hostname}" is none` };
  }
  return url;
}

// The parsed host is compared, never a pattern over the whole text: an unanchored one would take
// https://127.0.0.1/fcm.googleapis.com for a push service.
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
 * Whether what stands before a domain is made of the labels that hosts have (RFC 1123 §2.1): a URL
 * may have others, such as empty ones. No push service has an internationalised one.
 */
function isSubdomain(text: string): boolean {
  return text.length <= 200 && labels.test(text);
}
