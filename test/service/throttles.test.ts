import { routes } from '../../contract/routes.ts';
import { type Service, startService } from '../fixtures/service.ts';

let service: Service;
const clock = { ms: 0 };

beforeAll(async () => {
  service = await startService({ nowMs: () => clock.ms });
});
afterAll(() => service.stop());

test('200 requests a second without a key leave room for a send with one', async () => {
  const owner = await service.createProject();
  const victim = { parameters: { projectId: owner.projectId }, body: { title: 'T' } };
  const refused: number[] = [];
  const sent: number[] = [];
  for (let second = 0; second < 3; second++) {
    clock.ms += 1000;
    for (let sets = 0; sets < 10; sets++) {
      const answers = Array.from({ length: 20 }, () => service.call(routes.send, victim));
      refused.push(...(await Promise.all(answers)).map(({ status }) => status));
    }
    sent.push((await service.send(owner, { title: 'T' })).status);
  }
  expect({ sent, refused: new Set(refused) }).toEqual({
    sent: [201, 201, 201],
    refused: new Set([401]),
  });
});
