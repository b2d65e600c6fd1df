import { element, fromTemplate, part } from './element.ts';

interface Call {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Shows every request that this page, the SDK included, makes to the service.
 * @param isOfService tells by the address.
 * @param onCall is told the address when a request starts.
 */
export function watchCalls(isOfService: (url: URL) => boolean, onCall: (url: URL) => void): void {
  const { fetch } = window;
  window.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    if (!isOfService(url)) return fetch(input, init);
    onCall(url);
    const row = addCall(callOf(url, init));
    const begin = performance.now();
    try {
      const response = await fetch(input, init);
      const text = await response.clone().text();
      finish(row, response.ok ? 'good' : 'bad', String(response.status), begin, pretty(text));
      return response;
    } catch (error) {
      finish(row, 'bad', '–', begin, `No response: ${(error as Error).message}`);
      throw error;
    }
  };
}

/** Shows a request that a browser may not make, for the person to make it. */
export function showCall(url: string, init: RequestInit, why: string): void {
  const row = addCall(callOf(new URL(url), init));
  part(row, '.code').textContent = '–';
  part(row, '.response').textContent = why;
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
  part(row, '.curl').textContent = curl(call, hidden);
  part(row, '.copy').addEventListener('click', async ({ target }) => {
    const button = target as HTMLButtonElement;
    await navigator.clipboard.writeText(curl(call, (value) => value));
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  element('calls-empty').hidden = true;
  // The newest one lies open.
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
  begin: number,
  response: string,
): void {
  row.dataset.outcome = outcome;
  part(row, '.code').textContent = code;
  part(row, '.took').textContent = `${Math.round(performance.now() - begin)} ms`;
  part(row, '.response').textContent = response;
}

function curl(
  { method, url, headers, body }: Call,
  headerText: (value: string, name: string) => string,
): string {
  const lines = [`curl -X ${method} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`-H ${quoted(`${name}: ${headerText(value, name)}`)}`);
  }
  if (body !== undefined) lines.push(`-d ${quoted(pretty(body))}`);
  return lines.join(' \\\n  ');
}

/** What is read over a shoulder, or stands in a screenshot, holds no secret; what is copied works. */
function hidden(value: string, name: string): string {
  return name === 'authorization' ? value.replace(/(_sk_.{4}).*/, '$1…') : value;
}

/** In single quotes, as a shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
