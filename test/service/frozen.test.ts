// In a file of its own: functions' clocks stay ahead of the test's.
import { randomBytes } from 'node:crypto';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import { useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const service = useService();

test('a key that was revoked while functions were frozen is refused: their ticks stood still', async () => {
  const project = await service.createProject();
  const member = { name: 'Ann', role: 'sender' as const, random: randomBytes };
  const { key: secretKey } = await service.registry.invite(project.projectId, member);
  const send = () => service.send({ ...project, secretKey }, { title: 'T' });
  expect(await send()).toMatchObject({ status: 201 });
  await service.registry.revoke(project.projectId, 'Ann');
  service.stack.freeze(10 * 60_000, 'reset');
  expect(await send()).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
});

test.each([
  [98, 20, 80, 2],
  [40, 30, 9, 0],
])('of %i subscribers, cap lowered to %i, %i leave: %i may join after 30 s', async (...row) => {
  const [before, cap, leaving, joining] = row;
  const project = await service.createProject();
  const browsers = [];
  for (let count = 0; count < before; count += 1) browsers.push(await service.subscribe(project));
  await service.registry.set(project.projectId, { subscriberCap: cap });
  service.stack.freeze(projectCacheMs, 'reset');
  for (const { endpoint } of browsers.slice(0, leaving)) {
    const query = `?endpoint=${encodeURIComponent(endpoint)}`;
    await callWithValidRequest(service, project, 'unsubscribe', { query });
  }
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1) {
    statuses.push((await callWithValidRequest(service, project, 'subscribe')).status);
  }
  expect(statuses).toEqual([...Array(joining).fill(201), ...Array(12 - joining).fill(403)]);
  expect(await service.usage(project.projectId)).toMatchObject({
    subscribers: before - leaving + joining,
  });
});
