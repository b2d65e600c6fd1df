import { clientVariables } from '../../infrastructure/client-variables.ts';
import {
  gatewayResponseTable,
  headersTooLargeMeaning,
  headersTooLargeStatus,
} from '../../infrastructure/gateway-responses.ts';
import { failureReasons } from '../../wire/counts.ts';
import { errorTable } from '../../wire/errors.ts';
import { type Route, type RouteName, routes } from '../../wire/routes.ts';
import { contentFields, displayedNames } from '../../wire/send-fields.ts';
import { browserColumns, type FieldText, fieldTexts } from '../field-texts.ts';
import { type StoredData, storedData } from '../stored-data.ts';
import {
  type Example,
  errorsOf,
  errorsOfEveryRoute,
  type Operation,
  rolesFor,
  type SuccessResponse,
} from './operation.ts';
import { operations } from './operations.ts';
import { type AnyFields, type Described, type JsonSchema, jsonSchemaOf } from './schema.ts';

const block = /<!-- generated: (.+?) -->\n[\s\S]*?<!-- end -->/g;

/** Documents with generated blocks. */
export const generatedDocuments = [
  'docs/api.md',
  'docs/message.md',
  'docs/operating.md',
  'docs/privacy.md',
  'docs/sdk.md',
] as const;

/**
 * Writes the generated blocks of a document again: the text between
 * `<!-- generated: NAME -->` and `<!-- end -->`.
 * @throws {Error} for a block with an unknown name.
 */
export function withGeneratedBlocks(markdown: string): string {
  return markdown.replaceAll(block, (_, name: string) => {
    const text = blockOf(name);
    if (text === undefined) throw new Error(`Unknown generated block: ${name}`);
    return `<!-- generated: ${name} -->\n${text}\n<!-- end -->`;
  });
}

const lists: Readonly<Record<string, () => string>> = {
  routes: routeTable,
  'error codes': errorCodes,
  'failure reasons': failureReasonTable,
  'gateway responses': gatewayResponses,
  'browser support': browserSupport,
  'members unchanged': membersAsSent,
  'stored data': storedDataTable,
};

/** Names: those of the lists; a route, for its whole section; a route and one of its blocks. */
function blockOf(name: string): string | undefined {
  const [route = '', kind, which] = name.split(' ');
  if (!(route in routes)) return lists[name]?.();
  const facts = routes[route as RouteName];
  if (kind === undefined) return sectionOf(facts);
  return blockOfRoute(facts, operations[route as RouteName], kind, which);
}

function sectionOf(route: Route): string {
  const operation: Operation = operations[route.name];
  const { summary, examples, responses } = operation;
  const block = (kind: string, which?: string) => blockOfRoute(route, operation, kind, which) ?? [];
  const blocks = [
    block('description'),
    ...Object.keys(examples).map((name) => block('example', name)),
    ...['headers', 'query', 'body'].map((kind) => block(kind)),
    ...Object.entries(responses).map(([status, { content }]) =>
      content.name === 'Success' ? [] : block('response', status),
    ),
    block('errors'),
  ];
  return [`## ${summary}`, ...blocks.flat()].join('\n\n');
}

function blockOfRoute(
  route: Route,
  operation: Operation,
  kind: string,
  which = '',
): string | undefined {
  const { headers, query, body, responses, examples } = operation;
  switch (kind) {
    case 'description':
      return wrap(operation.description);
    case 'example':
      return examples[which] && exampleBlocks(route, operation, examples[which]);
    case 'headers':
      return headers && fieldTable('Header', headers);
    case 'query':
      return query && fieldTable('Query parameter', query);
    case 'body':
      return body && `${fieldTable('Field', body.content)}\n\n${bodyRules(body)}`;
    case 'response': {
      const response = responses[Number(which)];
      return response && responseFields(operation, response);
    }
    case 'errors':
      return wrap(`Errors: ${ownErrors(route, operation)}.`);
    default:
      return undefined;
  }
}

function routeTable(): string {
  const rows = Object.values<Route>(routes).map((route) => {
    const statuses = Object.keys(operations[route.name].responses).join(' or ');
    const name = linkTo(operations[route.name]);
    return [name, route.method, `\`${route.path}\``, keysFor(route), statuses];
  });
  return table(['Name', 'Method', 'Path', 'Key', 'Success'], rows);
}

function keysFor(route: Route): string {
  if (route.caller === 'browser') return 'none';
  return ['secret', ...rolesFor(route).map((role) => `\`${role}\``)].join(', ');
}

function failureReasonTable(): string {
  const rows = Object.entries(failureReasons).map(([reason, { meaning }]) => [
    `\`${reason}\``,
    meaning,
  ]);
  return table(['Reason', ''], rows);
}

function errorCodes(): string {
  const rows = Object.entries(errorTable).map(([code, { status, meaning }]) => [
    String(status),
    `\`${code}\``,
    meaning,
  ]);
  return table(['Status', 'Code', 'When'], rows);
}

function gatewayResponses(): string {
  const rows = Object.values(gatewayResponseTable).map(({ status, message, meaning }) => [
    String(status),
    `\`${JSON.stringify({ message })}\``,
    meaning,
  ]);
  rows.push([String(headersTooLargeStatus), 'may be empty', headersTooLargeMeaning]);
  rows.sort(([one], [other]) => Number(one) - Number(other));
  return table(['Status', 'Body', 'When'], rows);
}

function browserSupport(): string {
  const fieldsBySupport = new Map<string, string[]>();
  for (const [name, { browsers }] of Object.entries<FieldText>(fieldTexts)) {
    if (browsers === undefined) continue;
    const support = browsers.join('|');
    fieldsBySupport.set(support, [...(fieldsBySupport.get(support) ?? []), `\`${name}\``]);
  }
  const rows = [...fieldsBySupport].map(([support, names]) => [
    names.join(', '),
    ...support.split('|'),
  ]);
  return table(['Fields of send', ...browserColumns], rows);
}

/** Leaves out what is the same in the row before. */
function storedDataTable(): string {
  let last: StoredData | undefined;
  const rows = storedData.map((row: StoredData) => {
    const { where, names, what, why } = row;
    const isNew = where !== last?.where;
    const places = (['kept', 'readBy', 'ends'] as const).map((name) =>
      isNew || row[name] !== last?.[name] ? row[name] : '',
    );
    const codes = names.map((name) => `\`${name}\``).join(', ');
    last = row;
    return [isNew ? where : '', codes, what, why, ...places];
  });
  return table(['Where', 'Name', 'What', 'Why', 'Kept', 'Who reads it', 'How it ends'], rows);
}

function membersAsSent(): string {
  const names = displayedNames.filter((name) => contentFields[name].kind !== 'time');
  const list = names.map((name) => `\`${name}\``).join(', ');
  return wrap(`As sent, if they are: ${list}. Of a translated text, \`lang\` is the tag.`);
}

function fieldTable(title: string, fields: Described, ofRequest = true): string {
  return table([title, 'Type', ''], fieldRows(fields, ofRequest));
}

/** A table, or where another operation has the same one. */
function responseFields(operation: Operation, { content }: SuccessResponse): string {
  const first = Object.values<Operation>(operations).find(({ responses }) =>
    Object.values(responses).some((other) => other.content === content),
  )!;
  if (first === operation) return fieldTable('Field of the response', content, false);
  return `The response is that of ${linkTo(first)}.`;
}

function linkTo({ summary }: Operation): string {
  const name = summary.toLowerCase();
  return `[${name}](#${name.replaceAll('’', '').replaceAll(' ', '-')})`;
}

function bodyRules({ limitBytes, mediaTypes = [] }: NonNullable<Operation['body']>): string {
  const [, ...others] = mediaTypes.map((type) => `\`${type}\``);
  const also = others.length > 0 ? ` Its \`Content-Type\` may also be ${others.join(' or ')}.` : '';
  return wrap(`The body may have at most ${limitBytes.toLocaleString('en')} bytes.${also}`);
}

function ownErrors(route: Route, operation: Operation): string {
  return errorsOf(route, operation)
    .filter((code) => !errorsOfEveryRoute.includes(code))
    .map((code) => `\`${code}\``)
    .join(', ');
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Breaks a paragraph into lines of at most 105 characters. */
function wrap(text: string): string {
  return text.replaceAll(/(?=.{106})(.{0,105}) /g, '$1\n');
}

/**
 * The rows of a table of fields: name, type, meaning.
 * @param ofRequest whether the table says which fields are required and what their bounds are.
 */
function fieldRows(described: Described, ofRequest: boolean): string[][] {
  return rowsOf(jsonSchemaOf(described), described.fields, ofRequest, '');
}

function rowsOf(json: JsonSchema, fields: AnyFields, ofRequest: boolean, prefix: string) {
  return Object.entries(json.properties!).flatMap(([name, property]): string[][] => {
    const field = fields[name]!;
    const { describedIn } = field;
    if (describedIn !== undefined) {
      const together = Object.keys(fields).filter(
        (one) => fields[one]!.describedIn === describedIn,
      );
      return name === together[0] ? [[namesOf(together), '', `As in ${describedIn}.`]] : [];
    }
    const isRequired = json.required?.includes(name) === true;
    const own = [
      `\`${prefix}${name}\``,
      typeOf(property) + presence(isRequired, ofRequest),
      (ofRequest
        ? [field.description, boundsOf(property), defaultOf(property)]
        : [field.description]
      )
        .filter(Boolean)
        .join(' '),
    ];
    const inner = property.type === 'array' ? property.items! : property;
    // Fields of a response with one meaning each would repeat what is documented elsewhere.
    if (!ofRequest || field.fields === undefined) return [own];
    const separator = property.type === 'array' ? '[].' : '.';
    return [own, ...rowsOf(inner, field.fields, ofRequest, `${prefix}${name}${separator}`)];
  });
}

/** Many neighbours of one table are named by the first and the last. */
function namesOf(fields: readonly string[]): string {
  const [first, ...others] = fields.map((name) => `\`${name}\``);
  return others.length > 10 ? `${first} to ${others.at(-1)}` : [first, ...others].join(', ');
}

function presence(isRequired: boolean, ofRequest: boolean): string {
  if (ofRequest) return isRequired ? ', required' : '';
  return isRequired ? '' : ', optional';
}

function typeOf({ type, items, anyOf, $ref, const: constant }: JsonSchema): string {
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `array of ${plural(typeOf(items!))}`;
  if (Array.isArray(type)) return type.join(' or ');
  return type ?? ($ref === undefined ? typeof constant : 'object');
}

const plural = (type: string) => `${type}s`;

function defaultOf({ default: value }: JsonSchema): string {
  if (value === undefined) return '';
  return `Default: ${typeof value === 'number' ? value.toLocaleString('en') : `\`${value}\``}.`;
}

function alternatives(values: readonly unknown[]): string {
  const codes = values.map((one) => `\`${one}\``);
  return [codes.slice(0, -1).join(', '), codes.at(-1)].filter(Boolean).join(' or ');
}

/** The bounds of a schema in a sentence, such as `1 to 10 characters.`; empty if it has none. */
function boundsOf(json: JsonSchema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, items } = json;
  if (json.enum !== undefined) return `${alternatives(json.enum)}.`;
  const inner = items === undefined ? '' : boundsOf(items);
  const outer =
    between(minLength, maxLength, 'characters') ??
    between(minItems, maxItems, 'entries') ??
    between(minimum, maximum, '');
  const own = outer === undefined ? '' : `${outer}.`;
  return inner === '' ? own : `${own.slice(0, -1)}, each of ${inner}`;
}

function between(
  min: number | undefined,
  max: number | undefined,
  unit: string,
): string | undefined {
  if (max === undefined) return undefined;
  const least = min === undefined ? 'at most' : `${min.toLocaleString('en')} to`;
  const text = `${least} ${max.toLocaleString('en')} ${unit}`.trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Longest body that is written in one line, in characters. */
const lineLength = 60;

/** An example as a command and its response, in two code blocks. */
function exampleBlocks(route: Route, { body }: Operation, example: Example): string {
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
