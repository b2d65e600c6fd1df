import type { Template } from 'aws-emulator/template';
import { eventMetrics, logNamespace } from '../../contract/infrastructure/metrics.ts';
import { routes } from '../../contract/wire/routes.ts';
import { measured } from '../fixtures/measured-stack.ts';
import { RecordedMetrics } from '../fixtures/recorded-metrics.ts';
import { useService } from '../fixtures/service.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const { stack, template } = synthesize();
const metrics = new RecordedMetrics();
const lines: Record<string, unknown>[] = [];

const service = useService(
  // One environment, so that no event waits in another one.
  measured(template.toJSON() as Template, metrics, {
    concurrency: 1,
    onLog: ({ text }) => lines.push(JSON.parse(text)),
  }),
);

function counted(name: keyof typeof eventMetrics) {
  const namespace = logNamespace(stack.stackName);
  const metric = { namespace, name: eventMetrics[name], dimensions: {} };
  const ever = { from: 0, to: Number.POSITIVE_INFINITY, seenAt: Number.POSITIVE_INFINITY };
  return metrics.statistic(metric, 'Sum', ever);
}

test('metrics have every event, although not each has a line, and no refused one', async () => {
  const project = await service.createProject();
  const { body } = await service.send(project, { title: 'T' });
  const report = async (type: string, notificationId = body.id) =>
    (
      await service.call(routes.track, {
        parameters: { ...project, notificationId },
        body: { type },
      })
    ).status;
  lines.length = 0;
  for (let event = 0; event < 30; event += 1) expect(await report('shown')).toBe(200);
  for (let event = 0; event < 20; event += 1) expect(await report('clicked')).toBe(200);
  expect(await report('shown', 'unknown')).toBe(404);
  const successful = lines.filter(({ status }) => status === 200);
  expect(successful.length).toBeLessThan(50);
  expect(lines.filter(({ status }) => status === 404)).toHaveLength(1);

  // The next event of the same environment has a line with the rest.
  service.stack.freeze(1000, 'reset');
  expect(await report('clicked')).toBe(200);
  expect({ shown: counted('shown'), clicked: counted('clicked') }).toEqual({
    shown: 30,
    clicked: 21,
  });
});
