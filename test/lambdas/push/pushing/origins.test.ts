import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { noCounts } from '../../../../contract/counts.ts';
import { vapidSigner } from '../../../../lambdas/push/crypto/vapid.ts';
import { pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import { pushOverNetwork } from '../../../fixtures/network-pushing.ts';
import { pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';
import { wildcardCertificate } from '../../../fixtures/wildcard-certificate.ts';

const origins = Array.from({ length: 2000 }, (_, index) => `https://x${index}.push.apple.com`);

/** Three recipients at each origin, in the order in which a table has them: mixed. */
const recipients = [0, 1, 2].flatMap((number) =>
  origins.flatMap((origin) => recipientsAt(origin, number + 1).slice(number)),
);

test('one token is signed for each origin, when its first push is prepared', async () => {
  const { done, pushes, signed } = pushVirtually({ recipients });
  expect(signed).toHaveLength(Math.ceil(32 / 3));
  expect(await done).toEqual({ ...noCounts, attempted: 6000, delivered: 6000 });
  expect(signed.sort()).toEqual([...origins].sort());
  expect(pushes).toHaveLength(6000);
});

test('400 origins of one push service need no more connections than its limit', async () => {
  let open = 0;
  let most = 0;
  const server = https.createServer(
    { key: wildcardCertificate.key, cert: wildcardCertificate.cert },
    (_, response) => response.writeHead(201, { 'content-length': 0 }).end(),
  );
  server.on('connection', (socket) => {
    open += 1;
    most = Math.max(most, open);
    socket
      .on('error', () => {})
      .once('close', () => {
        open -= 1;
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const lookup: LookupFunction = (_, __, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]);

  const limit = 40;
  const post = pushTransport({ limit, lookup, ca: wildcardCertificate.cert });
  const sign = vapidSigner('mailto:ops@example.com', () => new Date());
  let signatures = 0;
  const report = await pushOverNetwork(
    {
      recipients: recipients.slice(0, 400),
      lastPushAt: Date.now() + 100_000,
      endAt: Date.now() + 110_000,
    },
    {
      // The server does not listen on the default port.
      transport: (request) => post({ ...request, origin: `${request.origin}:${port}` }),
      sign: (keys, origin) => {
        signatures += 1;
        return sign(keys, origin);
      },
      inFlight: { overall: limit, perPushService: 30, initial: 8, minimum: 4 },
    },
  );
  server.closeAllConnections();
  await once(server.close(), 'close');

  expect(report).toEqual({ ...noCounts, attempted: 400, delivered: 400 });
  expect(signatures).toBe(400);
  // The server learns a moment later that a connection is closed.
  expect(most).toBeLessThanOrEqual(limit + 10);
}, 60_000);
