import { noCounts } from '../../../../contract/wire/counts.ts';
import { NoResponseError, UnsendableError } from '../../../../lambdas/push/transport/response.ts';
import { fcm, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const timeout = new NoResponseError('No response in time.', { isTimeout: true });

test.each([
  ['unsendable is not repeated', new UnsendableError('A private address.'), 'unsendable', 1, 0],
  ['without a response is repeated', new NoResponseError('Reset.'), 'no_response', 3, 0],
  ['that timed out is not repeated, as a caller waits', timeout, 'no_response', 1, 0],
  ['with another error is reported as a fault', new TypeError('x'), 'internal_error', 1, 1],
])('a push that is %s', async (_, error, reason, attempts, reported) => {
  const faults: unknown[] = [];
  let attempted = 0;
  const { done } = pushVirtually({ recipients: recipientsAt(fcm, 1) }, undefined, {
    transport: () => {
      attempted += 1;
      return Promise.reject(error);
    },
    onFault: (fault) => faults.push(fault),
  });
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 1, failed: 1, failures: { [reason]: 1 } },
  });
  expect(attempted).toBe(attempts);
  expect(faults).toEqual(Array(reported).fill(error));
});

test('a key pair with which nothing can be signed is a fault, of which the log tells', async () => {
  const faults: unknown[] = [];
  const error = new Error('Invalid key.');
  const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 2) }, undefined, {
    sign: () => {
      throw error;
    },
    onFault: (fault) => faults.push(fault),
  });
  expect(await done).toMatchObject({ attempted: 2, failures: { internal_error: 2 } });
  expect(pushes).toEqual([]);
  expect(faults).toContain(error);
});
