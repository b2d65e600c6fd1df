import { element, fromTemplate, part } from './element.ts';

interface Call {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Shows every request of this page and of the SDK to the service.
 * @param isServiceUrl whether a URL is one of the service's.
 * @param onCall is called with the URL when a request starts.
 */
export function watchCalls(isServiceUrl: (url: URL) => boolean, onCall: (url: URL) => void): void {
  const { fetch } = window;
  window.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    if (!isServiceUrl(url)) return fetch(input, init);
    onCall(url);
    const row = addCall(callOf(url, init));
    const startedAtMs = performance.now();
    try {
      const response = await fetch(input, init);
      const text = await response.clone().text();
      const outcome = response.ok ? 'good' : 'bad';
      finish(row, outcome, String(response.status), startedAtMs, formatJson(text));
      return response;
    } catch (error) {
      finish(row, 'bad', '–', startedAtMs, `No response: ${(error as Error).message}`);
      throw error;
    }
  };
}

/** Shows a request that this page cannot make, so that the user can copy it. */
export function showCall(url: string, init: RequestInit, reason: string): void {
  const row = addCall(callOf(new URL(url), init));
  part(row, '.code').textContent = '–';
  part(row, '.response').textContent = reason;
}

function callOf(url: URL, init: RequestInit = {}): Call {
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = typeof init.body === 'string' ? init.body : undefined;
  return { url: url.href, method: init.method ?? 'GET', headers, body };
}

function addCall(call: Call): HTMLElement {
  const row = fromTemplate('call-template');
  part(row, '.code').textContent = '…';
  part(row, '.method').textContent = call.method;
  part(row, '.path').textContent = new URL(call.url).pathname.replace(/^\/api\/v1/, '');
  part(row, '.path').title = call.url;
  part(row, '.curl').textContent = curl(call, withoutSecret);
  part(row, '.copy').addEventListener('click', async ({ target }) => {
    const button = target as HTMLButtonElement;
    await navigator.clipboard.writeText(curl(call, (value) => value));
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  element('calls-empty').hidden = true;
  // Only the newest call is open.
  for (const open of element('calls').querySelectorAll('details[open]')) {
    open.removeAttribute('open');
  }
  part<HTMLDetailsElement>(row, 'details').open = true;
  element('calls').prepend(row);
  return row;
}

function finish(
  row: HTMLElement,
  outcome: 'good' | 'bad',
  code: string,
  startedAtMs: number,
  response: string,
): void {
  row.dataset.outcome = outcome;
  part(row, '.code').textContent = code;
  part(row, '.took').textContent = `${Math.round(performance.now() - startedAtMs)} ms`;
  part(row, '.response').textContent = response;
}

function curl(
  { method, url, headers, body }: Call,
  headerText: (value: string, name: string) => string,
): string {
  const lines = [`curl -X ${method} ${quote(url)}`];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`-H ${quote(`${name}: ${headerText(value, name)}`)}`);
  }
  if (body !== undefined) lines.push(`-d ${quote(formatJson(body))}`);
  return lines.join(' \\\n  ');
}

/** The secret key is hidden on the page and in screenshots. The copied command contains it. */
function withoutSecret(value: string, name: string): string {
  return name === 'authorization' ? value.replace(/(_sk_.{4}).*/, '$1…') : value;
}

/** Quotes a shell argument. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Indents JSON. Returns other text unchanged. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
