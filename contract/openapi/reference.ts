import { errorTable } from '../errors.ts';
import { gatewayResponseTable } from '../gateway-responses.ts';
import { type Route, type RouteName, routes } from '../routes.ts';
import { contentFields, shownNames } from '../send-fields.ts';
import type { Described } from './described.ts';
import { errorsOf } from './errors-of.ts';
import { exampleBlocks } from './example-blocks.ts';
import { fieldRows } from './field-rows.ts';
import { browserColumns, type FieldText, fieldTexts } from './field-texts.ts';
import { descriptionOf } from './members.ts';
import type { Operation, SuccessResponse } from './operation.ts';
import { operations } from './operations.ts';

const block = /<!-- generated: (.+?) -->\n[\s\S]*?<!-- end -->/g;

/** Documents with generated blocks. */
export const generatedDocuments = ['docs/api.md', 'docs/message.md', 'docs/sdk.md'] as const;

/**
 * Writes the generated blocks of a document again: the text between
 * `<!-- generated: NAME -->` and `<!-- end -->`.
 * @throws {Error} for a block with an unknown name.
 */
export function withGeneratedBlocks(markdown: string): string {
  const described = new Set(Array.from(markdown.matchAll(block), ([, name]) => name));
  return markdown.replaceAll(block, (_, name: string) => {
    const text = name === 'other routes' ? sectionsWithout(described) : blockOf(name);
    if (text === undefined) throw new Error(`Unknown generated block: ${name}`);
    return `<!-- generated: ${name} -->\n${text}\n<!-- end -->`;
  });
}

const lists: Readonly<Record<string, () => string>> = {
  routes: routeTable,
  'error codes': errorCodes,
  'gateway responses': gatewayResponses,
  'browser support': browserSupport,
  'members unchanged': membersAsSent,
};

/** Names: those of the lists, or a route and one of its blocks. `other routes` has the sections of all others. */
function blockOf(name: string): string | undefined {
  const [route = '', kind = '', which] = name.split(' ');
  if (!(route in routes)) return lists[name]?.();
  return blockOfRoute(routes[route as RouteName], operations[route as RouteName], kind, which);
}

/** A section for each route that the document does not describe itself. */
function sectionsWithout(described: ReadonlySet<string | undefined>): string {
  return Object.values<Route>(routes)
    .filter(({ name }) => !described.has(`${name} description`))
    .map(sectionOf)
    .join('\n\n');
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
      content.name === 'Ok' ? [] : block('response', status),
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
      return wrap(descriptionOf(route, operation));
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
  const rows = Object.values(routes).map(({ name, method, path }: Route) => {
    const { caller, responses }: Operation = operations[name];
    const statuses = Object.keys(responses).join(' or ');
    return [linkTo(operations[name]), method, `\`${path}\``, caller, statuses];
  });
  return table(['Name', 'Method', 'Path', 'Who calls it', 'Success'], rows);
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
  return table(['Status', 'Body', 'When'], rows);
}

function browserSupport(): string {
  const rows = Object.entries<FieldText>(fieldTexts).flatMap(([name, { browsers }]) =>
    browsers ? [[`\`${name}\``, ...browsers]] : [],
  );
  return table(['Field of send', ...browserColumns], rows);
}

function membersAsSent(): string {
  const names = shownNames.filter((name) => contentFields[name].kind !== 'time');
  return wrap(`As sent, if they are: ${names.map((name) => `\`${name}\``).join(', ')}.`);
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

/** Without the errors of every route. */
function ownErrors(route: Route, operation: Operation): string {
  return errorsOf(route, operation)
    .filter((code) => errorTable[code].status < 500)
    .map((code) => `\`${code}\``)
    .join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Breaks a paragraph into lines of at most 105 characters. */
function wrap(text: string): string {
  return text.replaceAll(/(?=.{106})(.{0,105}) /g, '$1\n');
}
