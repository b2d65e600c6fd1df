import { chargedBytes, logBytes } from '../../bench/costs/log-bytes.ts';
import { routes } from '../../contract/routes.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

let service: Service;
const lines: string[] = [];

beforeAll(async () => {
  service = await startService({ onLog: ({ text }) => lines.push(text) });
});
afterAll(() => service.stop());

/** Numbers and the project's id vary by a few bytes. */
function expectBytes(bytes: number, ...measured: readonly string[]): void {
  expect(chargedBytes(...measured)).toBeLessThanOrEqual(bytes);
  expect(chargedBytes(...measured)).toBeGreaterThan(0.9 * bytes);
}

test('log lines have the bytes with which the costs are calculated', async () => {
  const project = await service.createProject();
  await service.subscribe(project);
  expectBytes(logBytes.request, lines.at(-1)!);

  const { body } = await service.send(project, { title: 'T' });
  const ofDelivery = lines.filter((line) => /"message":"delivery"|"_aws"/.test(line));
  expectBytes(logBytes.delivery, ...ofDelivery);

  const parameters = { ...project, notificationId: body.id };
  await service.call(routes.track, { parameters, body: { type: 'shown' } });
  expectBytes(logBytes.events, lines.at(-1)!);
});

test('a line of the access log has the bytes with which the costs are calculated', () => {
  const [stage] = Object.values(synthesize().resources('AWS::ApiGatewayV2::Stage'));
  const values: Record<string, string> = {
    requestId: 'JKJaXmPLvHcESHA=',
    status: '200',
    responseLatency: '25',
    'error.responseType': '-',
    routeKey: `${routes.track.method} ${routes.track.path}`,
    'integration.error': '-',
  };
  const format = stage!.Properties.AccessLogSettings.Format as string;
  const line = format.replace(/\$context\.([\w.]+)/g, (_, name: string) => values[name]!);
  expectBytes(logBytes.access, line);
});
