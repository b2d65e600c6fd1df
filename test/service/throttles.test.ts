import { routes } from '../../contract/wire/routes.ts';
import { useService } from '../fixtures/service.ts';

let nowMs = 0;

const service = useService({ nowMs: () => nowMs });

test('200 requests per second without a key do not throttle a send with a key', async () => {
  const owner = await service.createProject();
  const withoutKey = { parameters: { projectId: owner.projectId }, body: { title: 'T' } };
  const refused: number[] = [];
  const sent: number[] = [];
  for (let second = 0; second < 2; second++) {
    nowMs += 1000;
    for (let batch = 0; batch < 10; batch++) {
      const responses = Array.from({ length: 20 }, () => service.call(routes.send, withoutKey));
      refused.push(...(await Promise.all(responses)).map(({ status }) => status));
    }
    sent.push((await service.send(owner, { title: 'T' })).status);
  }
  expect({ sent, refused: new Set(refused) }).toEqual({
    sent: [201, 201],
    refused: new Set([401]),
  });
});
