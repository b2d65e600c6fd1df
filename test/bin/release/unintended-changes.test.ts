import { readFileSync } from 'node:fs';
import { type ReleasedTemplate, releasedTemplate } from '../../../bin/release/released-template.ts';
import { type IntendedChange, unintendedChanges } from '../../../bin/release/unintended-changes.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type Resource, synthesize } from '../../fixtures/synthesized-stack.ts';

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const { version, Resources } = readJson('releases/template.json');
const template = synthesize().template.toJSON() as ReleasedTemplate;
const released = releasedTemplate(template);

test('an update of the last release replaces and removes only what is listed as intended', () => {
  // A line here means lost data, or another address, for everyone who updates. If that is intended, add
  // the resource with the reason to this list.
  const intended = readJson('releases/intended-changes.json');
  expect(unintendedChanges({ Resources }, released, intended)).toEqual([]);
});

// Changing the version without `npm run release:template` would leave the comparison with an older
// release.
test('the last release is the version of package.json', () => {
  expect(version).toBe(packageJson.version);
});

const table = 'NotificationsTable024CBB72';

/** The lines for an update from today's template to a copy of it with this change. */
function linesFor(
  change: (resources: Record<string, Resource>) => void,
  intended: readonly IntendedChange[] = [],
): string[] {
  const changed = structuredClone(template) as { Resources: Record<string, Resource> };
  change(changed.Resources);
  return unintendedChanges(released, releasedTemplate(changed), intended);
}

test('a deleted table is reported', () => {
  expect(linesFor((resources) => delete resources[table])).toEqual([
    `${table} (AWS::DynamoDB::Table) is no longer part of the stack`,
  ]);
});

test('a table with another logical id is reported', () => {
  expect(
    linesFor((resources) => {
      resources.NotificationsTable2 = resources[table]!;
      delete resources[table];
    }),
  ).toEqual([`${table} (AWS::DynamoDB::Table) is no longer part of the stack`]);
});

test.each<[string, (properties: Resource['Properties']) => void]>([
  [
    'another key',
    ({ KeySchema: [key], AttributeDefinitions: [definition] }) => {
      key.AttributeName = 'owner';
      definition.AttributeName = 'owner';
    },
  ],
  [
    'another type of its key',
    ({ AttributeDefinitions: [definition] }) => {
      definition.AttributeType = 'B';
    },
  ],
  [
    'no sort key',
    ({ KeySchema }) => {
      KeySchema.pop();
    },
  ],
])('a table with %s is reported', (_case, change) => {
  expect(linesFor((resources) => change(resources[table]!.Properties))).toEqual([
    `${table} (AWS::DynamoDB::Table) would be replaced: KeySchema changed`,
  ]);
});

test('a new function, and a property that can be updated, are not reported', () => {
  expect(
    linesFor((resources) => {
      resources.New = { Type: 'AWS::Lambda::Function', Properties: { Role: 'role', Code: {} } };
      resources[table]!.Properties.StreamSpecification = { StreamViewType: 'NEW_IMAGE' };
    }),
  ).toEqual([]);
});

test.each([table, 'AWS::DynamoDB::Table'])(
  'a change that is listed for %s is not reported',
  (resource) => {
    const intended = [{ resource, reason: 'A test.' }];
    expect(linesFor((resources) => delete resources[table], intended)).toEqual([]);
  },
);

test('a listed change that does not happen is reported, so that the list stays short', () => {
  expect(linesFor(() => {}, [{ resource: table, reason: 'A test.' }])).toEqual([
    `${table} is listed as an intended change, but does not change`,
  ]);
});
