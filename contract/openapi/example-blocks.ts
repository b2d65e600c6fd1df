import { clientVariables } from '../client-variables.ts';
import type { Route } from '../routes.ts';
import type { Example, Operation } from './operation.ts';

/** Longest body that is written in one line, in characters. */
const lineLength = 60;

/** An example as a command and its response, in two code blocks. */
export function exampleBlocks(route: Route, { body }: Operation, example: Example): string {
  const { request, status, response } = example;
  const headers = {
    ...(route.caller === 'owner' && { Authorization: `Bearer $${clientVariables.secretKey}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...request.headers,
  };
  const command = [
    `curl${route.method === 'GET' ? '' : ` -X ${route.method}`} "${addressOf(route, request.query)}"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d '${indented(jsonOf(request.body))}'`]),
  ].join(' \\\n  ');
  return `\`\`\`sh\n${command}\n\`\`\`\n\`\`\`json\n${status} ${JSON.stringify(response)}\n\`\`\``;
}

function addressOf({ path }: Route, query: Readonly<Record<string, string>> = {}): string {
  const variables = { projectId: `$${clientVariables.projectId}`, notificationId: '$NOTIFICATION' };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: keyof typeof variables) => variables[name]);
  const parameters = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(value).replace('%24', '$')}`,
  );
  return `$${clientVariables.baseUrl}${filled}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

/** Quotes a shell argument; a variable in it is expanded. */
const quoted = (text: string) => (text.includes('$') ? `"${text}"` : `'${text}'`);

function jsonOf(body: object): string {
  const line = inOneLine(body);
  return line.length <= lineLength ? line : JSON.stringify(body, null, 2);
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `"${name}": ${inOneLine(one)}`);
  return `{ ${members.join(', ')} }`;
}

const indented = (json: string) => json.replaceAll('\n', '\n  ');
