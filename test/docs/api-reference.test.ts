import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { errorTable } from '../../contract/errors.ts';
import { freeTier, limits } from '../../contract/limits.ts';
import { pushServiceHosts } from '../../contract/push-services.ts';
import { routes } from '../../contract/routes.ts';
import { gatewayResponses } from '../../local/gateway/response.ts';
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { startService } from '../fixtures/service.ts';

const reference = readFileSync('docs/api.md', 'utf8');

test('every example is answered as documented', async () => {
  const service = await startService();
  try {
    const project = await service.createProject();
    await service.subscribe(project);
    const { body } = await service.send(project, { title: 'T' });
    const examples = examplesIn('docs/api.md', '## Subscribe');
    const answers = await run(examples, {
      cwd: tmpdir(),
      env: {
        BASE: service.stack.baseUrl,
        PROJECT: project.projectId,
        SECRET_KEY: project.secretKey,
        NOTIFICATION: body.id,
      },
      // Prints the status before the body, as the reference does.
      prelude: `curl() { command curl -s -w '\\n%{http_code}\\n' "$@" | { read -r body; read -r status; echo "$status $body"; }; }`,
    });
    expect(examples.length).toBeGreaterThan(5);
    expect(answers.map(withoutIds)).toEqual(examples.map(({ answer }) => withoutIds(answer)));
  } finally {
    await service.stop();
  }
});

test.each(Object.values(routes))('documents $method $path', ({ method, path }) => {
  expect(reference).toContain(`| ${method} | \`${path}\` |`);
  expect(readFileSync('README.md', 'utf8')).toContain(`| ${method} | \`${path}\` |`);
});

test('documents every error, and no other', () => {
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

test('documents every response of the gateway, and no other', () => {
  const rows = reference.matchAll(/^\| (\d{3}) \| `(\{.*\})` \|/gm);
  const documented = [...rows].map(([, status, body]) => ({ status: Number(status), body }));
  const answered = Object.values(gatewayResponses).map(({ status, body }) => ({
    status,
    body: body.toString(),
  }));
  expect(documented).toEqual(answered.sort((one, other) => one.status - other.status));
});

test('documents every push service, and no other', () => {
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
  limits.messageBytes,
  limits.notificationRetentionDays,
  freeTier.rateLimitPerMinute,
  freeTier.monthlySendCap,
  freeTier.subscriberCap,
])('documents the limit of %i', (limit) => {
  expect(reference).toMatch(new RegExp(`\\b${limit.toLocaleString('en-US')}\\b`));
});
