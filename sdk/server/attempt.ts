import type { ErrorCode } from '../../contract/wire/errors.ts';
import { CarillonError, errorOf } from '../common/error.ts';
import { retryAfterSecondsOf } from '../common/timing.ts';

/** For one attempt. The service responds within 30 s, or its gateway does. */
export const attemptTimeoutMs = 35_000;

/**
 * @param onResponse is called when a response begins.
 * @returns the body of the response, or the failure.
 */
export async function attempt<Body>(
  url: URL,
  init: RequestInit,
  onResponse?: () => void,
): Promise<Body | CarillonError> {
  try {
    const response = await fetch(url, init);
    onResponse?.();
    if (!response.ok) return await failureOf(response);
    const text = await response.text();
    return parse(text) ?? (await errorOf(new Response(null, response)));
  } catch (cause) {
    const sentence = `No response from ${url.origin}; check "baseUrl" and the network; see "cause".`;
    return new CarillonError('network_error', sentence, { cause });
  }
}

/**
 * Codes for API Gateway's own responses, whose body is like `{"message":"Too Many Requests"}`. Its 404 has no code: the
 * path does not exist, so `baseUrl` is wrong.
 */
const gatewayCodes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  413: 'payload_too_large',
  429: 'rate_limited',
  500: 'internal_error',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** Reads an error response of the service, or of a gateway: only then the error has a cause. */
export async function failureOf(response: Response): Promise<CarillonError> {
  const { status } = response;
  const code = gatewayCodes[status];
  const { message } = Object(
    await response
      .clone()
      .json()
      .catch(() => {}),
  );
  const cause = `A gateway responded with ${status}, not the service.`;
  // The service itself never responds with these: their bodies are those of any gateway.
  const isOfGatewayOnly = status === 502 || status === 504;
  const text = typeof message === 'string' ? message : isOfGatewayOnly && cause;
  if (!code || !text) return errorOf(response);
  const retryAfter = retryAfterSecondsOf(response);
  return new CarillonError(code, text, { status, retryAfter, cause });
}

/** @returns undefined if the text is not JSON: it is not from Carillon. */
function parse<Body>(text: string): Body | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body of an attempt that is not repeated. @throws {CarillonError} its failure. */
export function bodyOrThrow<Body>(result: Body | CarillonError): Body {
  if (result instanceof CarillonError) throw result;
  return result;
}

/** Whether a retry may succeed. The month's cap is also a 429, but lasts until the next month. */
export function isTransient({ code, status = 500 }: CarillonError): boolean {
  const isLater = status === 429 || status >= 500 || code === 'request_in_progress';
  return isLater && code !== 'send_cap_reached';
}
