import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { errorTable } from '../../contract/errors.ts';
import { freeTier, limits } from '../../contract/limits.ts';
import { pushServiceHosts } from '../../contract/push-services.ts';
import { routes } from '../../contract/routes.ts';
import { cursorOf } from '../../lambdas/list-notifications/cursor.ts';
import { gatewayResponses } from '../../local/gateway/response.ts';
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { startService } from '../fixtures/service.ts';

const reference = readFileSync('docs/api.md', 'utf8');

test('each example gets the documented response', async () => {
  const service = await startService();
  try {
    const project = await service.createProject();
    await service.subscribe(project);
    await service.send(project, { title: 'Seats on sale' });
    const { body } = await service.send(project, { title: 'Doors open at eight' });
    const examples = examplesIn('docs/api.md', '## Subscribe');
    const responses = await run(examples, {
      cwd: tmpdir(),
      env: {
        BASE: service.stack.baseUrl,
        PROJECT: project.projectId,
        SECRET_KEY: project.secretKey,
        NOTIFICATION: body.id,
        CURSOR: cursorOf(body.id),
      },
      // Prints the status before the body, as in the document.
      prelude: `curl() { command curl -s -w '\\n%{http_code}\\n' "$@" | { read -r body; read -r status; echo "$status $body"; }; }`,
    });
    expect(examples.length).toBeGreaterThan(5);
    expect(responses.map(withoutIds)).toEqual(examples.map(({ response }) => withoutIds(response)));
  } finally {
    await service.stop();
  }
});

test.each(Object.values(routes))(
  'docs/api.md and README.md list $method $path',
  ({ method, path }) => {
    expect(reference).toContain(`| ${method} | \`${path}\` |`);
    expect(readFileSync('README.md', 'utf8')).toContain(`| ${method} | \`${path}\` |`);
  },
);

test('docs/api.md lists exactly the error codes', () => {
  const [, section] = reference.split('## Errors');
  const rows = [...section!.matchAll(/^\| (\d{3}) \| `(\w+)` \| (.*) \|$/gm)];
  const documented = rows.map(([, status, code, meaning]) => [code, Number(status), meaning]);
  const table = Object.entries(errorTable).map(([code, { status, meaning }]) => [
    code,
    status,
    meaning,
  ]);
  expect(documented).toEqual(table);
});

test('docs/api.md lists exactly the responses of the gateway', () => {
  const rows = reference.matchAll(/^\| (\d{3}) \| `(\{.*\})` \|/gm);
  const documented = [...rows].map(([, status, body]) => ({ status: Number(status), body }));
  const expected = Object.values(gatewayResponses).map(({ status, body }) => ({
    status,
    body: body.toString(),
  }));
  expect(documented).toEqual(expected.sort((one, other) => one.status - other.status));
});

test('docs/api.md lists exactly the accepted push services', () => {
  const [, section] = reference.split('## Push services');
  const hosts = [...section!.matchAll(/^\| `([^`]+)` \|/gm)].map(([, host]) => host);
  expect(hosts).toEqual(pushServiceHosts.map((host) => host.replace(/^\./, '*.')));
});

test.each([
  limits.urlLength,
  limits.userIdLength,
  limits.titleLength,
  limits.bodyLength,
  limits.userIds,
  limits.messageTtl,
  limits.topicLength,
  limits.actionLength,
  limits.actionTitleLength,
  limits.languageTagLength,
  limits.dataBytes,
  limits.appBadge,
  limits.messageBytes,
  limits.notificationRetentionDays,
  limits.page,
  limits.largestPage,
  freeTier.rateLimitPerMinute,
  freeTier.monthlySendCap,
  freeTier.subscriberCap,
])('docs/api.md states the limit %i', (limit) => {
  expect(reference).toMatch(new RegExp(`\\b${limit.toLocaleString('en-US')}\\b`));
});
