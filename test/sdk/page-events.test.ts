import { once } from 'node:events';
import { announce, openChannel } from '../../sdk/common/page-events.ts';

const scope = 'https://shop.example/';
const shown = { name: 'shown', detail: { id: 'an-id', data: { order: 7 } } } as const;
let channels: ReturnType<typeof openChannel>[];

beforeEach(() => {
  channels = [];
});

afterEach(() => {
  for (const channel of channels) channel.close();
});

/** Listens in a scope. @returns the first event. */
async function firstEvent(listeningScope: string): Promise<unknown> {
  const channel = openChannel(listeningScope);
  channels.push(channel);
  const [message] = await once(channel, 'message');
  return message.data;
}

test('an event reaches every listener of its scope, and no other', async () => {
  const here = [firstEvent(scope), firstEvent(scope)];
  const elsewhere = firstEvent(`${scope}blog/`);
  announce(scope, shown);
  expect(await Promise.all(here)).toEqual([shown, shown]);
  announce(`${scope}blog/`, { name: 'change' });
  expect(await elsewhere).toEqual({ name: 'change' });
});
