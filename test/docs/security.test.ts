import { readFileSync } from 'node:fs';
import { readGrants } from 'aws-emulator/grants';
import { readAssembly } from 'aws-emulator/template';
import { outputOf, type TableName } from '../../contract/infrastructure/tables.ts';
import { type FunctionName, functionNames } from '../../contract/wire/routes.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';

const security = readFileSync('SECURITY.md', 'utf8').replace(/\s+/g, ' ');

const grants = new Map(
  [...readGrants(readAssembly(sharedAssembly).template)].map(([id, own]) => [nameOf(id), own]),
);

/** The function with a logical id: its name with a capital, and eight digits in hex. */
function nameOf(logicalId: string): FunctionName {
  const name = logicalId.slice(0, -8);
  return functionNames.find((one) => one.toLowerCase() === name.toLowerCase())!;
}

/** Functions with one of these actions on a table or, after a space, on an index of it. */
function allowed(table: TableName, ...actions: readonly string[]): readonly FunctionName[] {
  const resource = new RegExp(`/${outputOf(table)}[0-9A-F]{8}(?:/index/(.+))?$`);
  return functionNames.filter((name) =>
    grants.get(name)!.some((grant) => {
      const [found, index] = resource.exec(grant.resource) ?? [];
      const action = grant.action.replace('dynamodb:', '');
      return found !== undefined && actions.includes(index ? `${action} ${index}` : action);
    }),
  );
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en-GB').format(names);

const reads = ['GetItem', 'BatchGetItem', 'Query', 'Scan'];

test('SECURITY.md says who may read keys and subscriptions', () => {
  expect(security).toContain(
    `| Identity key | IdentityKeys, in clear, to check signatures | 256 random bits; only ${listed(allowed('identityKeys', ...reads))} may read it`,
  );
  expect(security).toContain(
    `| Private VAPID key | VapidKeys | only ${listed(allowed('vapidKeys', ...reads))} may read it`,
  );
  const ofEveryone = allowed('subscriptions', 'Query', 'Scan');
  const ofOneUser = allowed('subscriptions', 'Query byUser', 'Scan byUser').filter(
    (name) => !ofEveryone.includes(name),
  );
  expect(security).toContain(
    `only ${listed(ofEveryone)} may query them (getProject for its sample), and ${listed(ofOneUser)} those of one user`,
  );
});

test('the function of the console may do nothing with a table', () => {
  expect(grants.get('console')).toEqual([]);
});

test('every role names its actions and resources', () => {
  expect(grants.size).toBe(functionNames.length);
  for (const { action, resource } of [...grants.values()].flat()) {
    expect(`${action} ${resource}`).not.toContain('*');
  }
});
