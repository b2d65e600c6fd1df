import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resourcesOf, type Template } from 'aws-emulator/template';
import { codeIn } from '../fixtures/documented-example.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { runCommand } from '../fixtures/npm-project.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

let service: Service;
let project: ProjectCredentials;
let folder: Folder;
let template: Template;

beforeAll(async () => {
  service = await startService();
  project = await service.createProject();
  folder = temporaryFolder();
  const env = { ...process.env, CDK_OUTDIR: folder.path };
  await runCommand(process.execPath, ['examples/send-later/app.js'], { env });
  const file = join(folder.path, 'SendLater.template.json');
  template = JSON.parse(readFileSync(file, 'utf8'));
}, 120_000);
afterAll(async () => {
  folder?.remove();
  await service?.stop();
});

interface Target {
  readonly Input: string;
  readonly EventBridgeParameters: { readonly Source: string };
}

type Texts = Readonly<Record<string, string>>;

interface Rule {
  readonly EventPattern: { readonly source: readonly string[] };
  readonly Targets: readonly [
    { readonly InputPath: string; readonly HttpParameters: { readonly HeaderParameters: Texts } },
  ];
}

interface Connection {
  readonly AuthParameters: {
    readonly ApiKeyAuthParameters: Texts;
    readonly InvocationHttpParameters: { readonly HeaderParameters: readonly Texts[] };
  };
}

const propertiesOf = <Properties>(type: string) =>
  resourcesOf(template, type)[0]![1].Properties as Properties;

/** The event that a schedule puts on the bus. Scheduler fills in the time. */
function eventOf({ Input, EventBridgeParameters }: Target, scheduledTime: string) {
  const filled = Input.replaceAll('<aws.scheduler.scheduled-time>', scheduledTime);
  return { source: EventBridgeParameters.Source, detail: JSON.parse(filled) };
}

/** What EventBridge does with an event: the request of the rule, to this service. */
async function deliver(event: ReturnType<typeof eventOf>) {
  const { EventPattern, Targets } = propertiesOf<Rule>('AWS::Events::Rule');
  const [{ InputPath, HttpParameters }] = Targets;
  const { AuthParameters } = propertiesOf<Connection>('AWS::Events::Connection');
  const { InvocationEndpoint, HttpMethod } = propertiesOf<Texts>('AWS::Events::ApiDestination');
  expect(EventPattern.source).toContain(event.source);
  expect(AuthParameters.ApiKeyAuthParameters).toEqual({
    ApiKeyName: 'Authorization',
    ApiKeyValue: '{{resolve:secretsmanager:push/authorization:SecretString:::}}',
  });
  const at = (path: string) =>
    path.split('.').reduce<unknown>((value, name) => Object(value)[name], { $: event });
  const headers = [
    ...AuthParameters.InvocationHttpParameters.HeaderParameters.map(({ Key, Value }) => [
      Key,
      Value,
    ]),
    ...Object.entries(HttpParameters.HeaderParameters).map(([name, path]) => [
      name,
      String(at(path)),
    ]),
  ];
  const { pathname } = new URL(InvocationEndpoint!.replace('my-site', project.projectId));
  const response = await fetch(service.stack.baseUrl + pathname, {
    method: HttpMethod!,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      authorization: `Bearer ${project.secretKey}`,
      ...Object.fromEntries(headers),
    },
    body: JSON.stringify(at(InputPath)),
  });
  return response.status;
}

test('a schedule sends once each time, however often Scheduler and EventBridge repeat it', async () => {
  const browser = await service.subscribe(project);
  const { Target } = propertiesOf<{ Target: Target }>('AWS::Scheduler::Schedule');
  const friday = () => eventOf(Target, '2026-12-04T17:30:00Z');
  expect(await deliver(friday())).toBe(202);
  // EventBridge waits 5 s, and repeats an event for an hour. Scheduler puts another event of the same time on the bus.
  const repeated = await Promise.all([deliver(friday()), deliver(friday()), deliver(friday())]);
  for (const status of repeated) expect([202, 409]).toContain(status);
  await until('the message', async () => browser.messages.length > 0);
  expect(await deliver(friday())).toBe(202);
  expect(await deliver(eventOf(Target, '2026-12-11T17:30:00Z'))).toBe(202);
  await until('the message of the next week', async () => browser.messages.length > 1);
  expect(browser.messages).toHaveLength(2);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 2 });
});

test('and one for one time, as the README has it', async () => {
  const browser = await service.subscribe(project);
  const { sends } = await service.usage(project.projectId);
  const [json] = codeIn('examples/send-later/README.md', 'json');
  const event = eventOf(JSON.parse(json!), '2026-12-24T18:00:00Z');
  expect(await deliver(event)).toBe(202);
  await until('the message', async () => browser.messages.length > 0);
  expect(await deliver(event)).toBe(202);
  expect(browser.messages.map(({ text }) => JSON.parse(text).notification.title)).toEqual([
    'Doors open',
  ]);
  expect((await service.usage(project.projectId)).sends).toBe(sends + 1);
});
