import { noCounts } from '../../../../contract/wire/counts.ts';
import {
  type Conduct,
  fcm,
  mozilla,
  pushVirtually,
  recipientsAt,
} from '../../../fixtures/virtual-pushing.ts';

const forAnHour: Conduct = { status: 429, headers: { 'retry-after': '3600' } };

test.each([429, 406])(
  '32 responses of %i until after the last push suspend a push service',
  async (status) => {
    const recipients = [...recipientsAt(fcm, 5000), ...recipientsAt(mozilla, 1000)];
    // Invalid keys further down the queue would count as `unsendable` if they were encrypted.
    const unencrypted = recipientsAt(fcm, 100).map((one) => ({
      ...one,
      p256dh: new Uint8Array(3),
    }));
    const { done, pushes } = pushVirtually(
      { recipients: [...recipients, ...unencrypted] },
      ({ origin }) => (origin === fcm ? { ...forAnHour, status } : { status: 201 }),
    );
    expect(await done).toEqual({
      ...noCounts,
      ...{ attempted: 6100, delivered: 1000, failed: 5100, failures: { throttled: 5100 } },
    });
    const sent = pushes.filter(({ origin }) => origin === fcm).length;
    expect(sent).toBeGreaterThanOrEqual(32);
    expect(sent).toBeLessThan(100);
  },
);

test.each<[string, Conduct]>([
  ['a success', { status: 201 }],
  ['another failure', { status: 400 }],
  ['a Retry-After in time', { status: 429, headers: { 'retry-after': '1' } }],
])('%s in between keeps it', async (_, other) => {
  let responses = 0;
  const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 400) }, () =>
    ++responses % 32 === 0 ? other : forAnHour,
  );
  await done;
  expect(pushes.length).toBeGreaterThanOrEqual(400);
});

test('the 32nd response in a row suspends', async () => {
  const one = { overall: 1, perPushService: 1, initial: 1, minimum: 1 };
  const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 40) }, () => forAnHour, {
    inFlight: one,
  });
  expect(await done).toMatchObject({ failed: 40 });
  expect(pushes).toHaveLength(32);
});

test('a push that waits for its retry is not attempted again', async () => {
  const [first, ...others] = recipientsAt(fcm, 200);
  const { done, pushes } = pushVirtually({ recipients: [first!, ...others] }, ({ path }) =>
    path === first!.path ? { status: 503 } : forAnHour,
  );
  expect(await done).toMatchObject({ failed: 200, failures: { throttled: 200 } });
  expect(pushes.filter(({ path }) => path === first!.path)).toHaveLength(1);
});
