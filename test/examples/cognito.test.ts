import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const identityKey = 'carillon_id_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const event = () => ({ request: { userAttributes: { sub: 'ada' } }, response: {} });

let parameters: Server;
let status: number;
const asked: unknown[] = [];

beforeAll(async () => {
  parameters = createServer(async (request, response) => {
    asked.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ Parameter: { Value: identityKey } }));
  }).listen(0, '127.0.0.1');
  await once(parameters, 'listening');
  const { port } = parameters.address() as AddressInfo;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    IDENTITY_KEY_PARAMETER: '/push/identity-key',
  });
});
afterAll(() => parameters.close());

test('the ID token gets the signature of its sub, or the user is logged in without it', async () => {
  const example = '../../examples/cognito/index.js';
  const { handler } = await import(example);
  const log = jest.spyOn(console, 'error').mockReturnValue();

  status = 400;
  expect(await handler(event())).toEqual(event());
  expect(log).toHaveBeenCalledWith('No push_signature:', expect.any(Error));

  status = 200;
  // The signature is that of docs/user-ids.md.
  const claims = { push_signature: 'cTnyQP6yJskAaFthGpdEgTeHTukTj6V74wDkJ4x8O6o' };
  const signed = {
    ...event(),
    response: { claimsOverrideDetails: { claimsToAddOrOverride: claims } },
  };
  expect(await handler(event())).toEqual(signed);
  expect(await handler(event())).toEqual(signed);

  expect(asked).toEqual(Array(2).fill({ Name: '/push/identity-key', WithDecryption: true }));
});
