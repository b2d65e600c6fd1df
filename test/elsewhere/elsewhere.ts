/**
 * Deploys the service with the CDK's command to any endpoint that speaks AWS's protocols, uses it there, and deletes it: what
 * the stand-ins of this repository say is compared with what others have built. Without an address, to ministack.
 */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { createBrowserKeys } from '../../admin/browser.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import { type Route, routes } from '../../contract/wire/routes.ts';
import { startPushService } from '../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { simulatedProxy } from '../../local/simulated-browsers.ts';
import { operatorOf } from '../deploy/fixtures/operator.ts';
import { startMinistack } from './ministack.ts';

const region = process.env.AWS_REGION ?? 'eu-west-1';
/** Emulators take the account from the key's id. */
const accessKeyId = process.env.AWS_ACCESS_KEY_ID ?? '111122223333';
const env = {
  ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId },
  AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? 'secret',
};
const stack = 'Carillon-dev';
const projectId = 'my-shop';
/** Longer than the lease of a slice whose function has ended. */
const longestDeliverySeconds = 180;
/** A slice of an asynchronous send has at most 250 user ids. */
const users = Array.from({ length: 600 }, (_, index) => `user-${index}`);

const [given] = process.argv.slice(2);
const ministack = given === undefined ? await startMinistack(accessKeyId, region) : undefined;
const address = given ?? ministack?.address;
if (address !== undefined) {
  try {
    process.exitCode = await judge(address, ministack?.lacks ?? []);
  } finally {
    await ministack?.stop();
  }
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each route has its own.
  readonly body: any;
}

/** @param lacks what the endpoint is known not to have. @returns 1 if something is wrong. */
async function judge(aws: string, lacks: readonly string[]): Promise<0 | 1> {
  const pushService = await startPushService();
  const proxy = simulatedProxy();
  const operator = operatorOf({ url: aws });
  const carillon = (line: string) =>
    run(`npm run -s carillon -- ${line} --stack ${stack} --region ${region}`);
  const failed: string[] = [];
  const notJudged: string[] = [...lacks];
  let callers = 0;
  let host = '';
  let secretKey = '';
  let applicationServerKey = '';

  async function run(line: string): Promise<string> {
    const { code, output } = await operator.run(line, { env });
    assert.equal(code, 0, `${line}\n${output.slice(-3000)}`);
    return output;
  }

  async function check(name: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      console.log(`right        ${name}`);
    } catch (error) {
      failed.push(name);
      console.log(`WRONG        ${name}: ${(error as Error).message}`);
    }
  }

  /** Calls the API at the endpoint's own address, from a new caller. */
  function call(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    caller = `10.0.${callers++ >> 8}.${callers & 255}`,
  ): Promise<Reply> {
    const content = {
      ...proxy.headersFrom(caller),
      'content-type': 'application/json',
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, aws), { method, headers: { ...content, host } });
      sent.on('error', reject).on('response', async (response) => {
        const isZipped = response.headers['content-encoding'] === 'gzip';
        const received = await text(isZipped ? response.pipe(createGunzip()) : response);
        const isJson = response.headers['content-type']?.includes('json');
        resolve({
          ...{ status: response.statusCode!, headers: response.headers, text: received },
          body: isJson ? JSON.parse(received) : undefined,
        });
      });
      sent.end(body && JSON.stringify(body));
    });
  }

  const owner = (headers = {}) => ({ authorization: `Bearer ${secretKey}`, ...headers });
  const path = (route: Route, parameters = {}) => pathOf(route, { projectId, ...parameters });
  const newBrowser = () => pushService.subscribe({ applicationServerKey });
  const register = (browser: SimulatedBrowser, to = projectId) =>
    call('POST', path(routes.subscribe, { projectId: to }), browser.toJSON());
  const send = (body: object, headers = {}) =>
    call('POST', path(routes.send), body, owner(headers));
  const project = async () => (await call('GET', path(routes.getProject), undefined, owner())).body;

  async function sendLater(body: object): Promise<Reply['body']> {
    const { status, body: accepted } = await send(body, { prefer: 'respond-async' });
    // Lambda has taken every slice: otherwise the request delivers it, and the status is 201.
    assert.equal(status, 202);
    const route = path(routes.getNotification, { notificationId: accepted.id });
    for (let seconds = 0; seconds < longestDeliverySeconds; seconds += 1) {
      const reply = await call('GET', route, undefined, owner());
      if (reply.status === 200 && !isInProgress(reply.body.status)) return reply.body;
      await pause(1000);
    }
    throw new Error(`It is still delivered after ${longestDeliverySeconds} s.`);
  }

  await check('a deployment with the CDK, and the first project', async () => {
    const { ORIGIN_SECRET_HASHES } = proxy.environment;
    const settings = [
      'vapidSubject=push@carillon.net alarmEmail=none',
      `extraPushOrigins=${pushService.origin} originSecretHashes=${ORIGIN_SECRET_HASHES}`,
    ];
    const card = await run(
      `npm run -s deploy -- --stage dev --set ${settings.join(' ')} --project ${projectId} --yes`,
    );
    host = new URL(/Base URL +(\S+)/.exec(card)![1]!).host;
    secretKey = /Secret key +(\S+)/.exec(card)![1]!;
    applicationServerKey = /Application server key +(\S+)/.exec(card)![1]!;
  });
  if (failed.length > 0) return end();

  const [ada, bob, carl] = [newBrowser(), newBrowser(), newBrowser()];
  await check('registrations and removals are counted', async () => {
    for (const browser of [ada, bob, carl, ada]) {
      assert.equal((await register(browser)).status, 201);
    }
    const query = `?endpoint=${encodeURIComponent(carl.endpoint)}`;
    assert.equal((await call('DELETE', path(routes.unsubscribe) + query)).status, 200);
    assert.equal((await project()).subscribers, 2);
  });

  await check('a send to everyone is delivered, counted, and clicked', async () => {
    const { status, body } = await send({ title: 'Hello', url: 'https://shop.example/' });
    assert.equal(status, 201);
    const { id, attempted, delivered } = body;
    assert.deepEqual({ attempted, delivered }, { attempted: 2, delivered: 2 });
    for (const { messages } of [ada, bob]) {
      assert.deepEqual(
        messages.map((message) => JSON.parse(message.text).notification.title),
        ['Hello'],
      );
    }
    const events = path(routes.track, { notificationId: id });
    for (const type of ['shown', 'clicked']) {
      assert.equal((await call('POST', events, { type })).status, 200);
    }
    const route = path(routes.getNotification, { notificationId: id });
    const { shown, clicked } = (await call('GET', route, undefined, owner())).body;
    assert.deepEqual({ shown, clicked }, { shown: 1, clicked: 1 });
  });

  await check('a repetition sends nothing, and another body under its key is refused', async () => {
    const key = { 'idempotency-key': 'order-1' };
    const [first, again] = [await send({ title: 'Once' }, key), await send({ title: 'Once' }, key)];
    assert.equal(again.body.id, first.body.id);
    assert.equal(ada.messages.length, 2);
    assert.equal((await send({ title: 'Other' }, key)).body.error.code, 'idempotency_key_reused');
    assert.equal((await project()).sentThisMonth, 2);
  });

  await check('caps hold', async () => {
    const card = await carillon('create small --subscriber-cap 2 --send-cap 1');
    const key = { authorization: `Bearer ${/Secret key +(\S+)/.exec(card)![1]}` };
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => register(pushService.subscribe(), 'small')),
    );
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 201, 403, 403]);
    const sendSmall = () =>
      call('POST', path(routes.send, { projectId: 'small' }), { title: 'Hello' }, key);
    assert.equal((await sendSmall()).status, 201);
    assert.equal((await sendSmall()).body.error.code, 'send_cap_reached');
  });

  await check('a stranger’s requests are limited to 60 a minute', async () => {
    const route = path(routes.subscribe);
    const statuses: number[] = [];
    for (let sent = 0; sent < 130; sent += 1) {
      statuses.push((await call('POST', route, {}, {}, '192.0.2.1')).status);
      if (statuses.at(-1) === 429) break;
    }
    assert.deepEqual([...new Set(statuses)], [400, 429]);
    // A count whose response comes too late is made again.
    assert.ok(statuses.length > 50, `refused after ${statuses.length - 1}`);
  });

  const keys = createBrowserKeys();
  const audience = users.map(() => pushService.subscribe({ applicationServerKey, keys }));
  await check('the command imports, lists and shows what the API has', async () => {
    const lines = audience.map((browser, index) =>
      JSON.stringify({ ...browser.toJSON(), userId: users[index] }),
    );
    const file = operator.write('list.ndjson', lines.join('\n'));
    await carillon(`subscriptions import ${projectId} ${file}`);
    assert.match(await carillon('list'), /my-shop +602/);
    const { usage } = JSON.parse(await carillon(`show ${projectId} --json`));
    assert.equal(usage.subscribers, (await project()).subscribers);
  });

  await check('a broadcast runs in another function', async () => {
    const { attempted, delivered } = await sendLater({ title: 'Everyone' });
    assert.deepEqual({ attempted, delivered }, { attempted: 602, delivered: 602 });
  });

  await check('a send over several functions reaches each person once', async () => {
    const { attempted, delivered } = await sendLater({ title: 'You', userIds: users });
    assert.deepEqual({ attempted, delivered }, { attempted: 600, delivered: 600 });
    const times = audience.map(
      ({ messages }) => messages.filter((message) => message.text.includes('"You"')).length,
    );
    assert.deepEqual([...new Set(times)], [1]);
  });

  await check('the console is served', async () => {
    const { status, text: page } = await call('GET', '/console');
    assert.equal(status, 200);
    assert.match(page, /<title>.*Carillon/);
  });

  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const { status } = await call('OPTIONS', path(routes.subscribe), undefined, preflight);
  if (status !== 204) notJudged.push(`preflights: the gateway itself responds ${status}`);

  const forged = 'AWS4-HMAC-SHA256 Credential=forged/20260101/x/dynamodb/aws4_request';
  const listed = await fetch(aws, {
    method: 'POST',
    headers: { authorization: forged, 'x-amz-target': 'DynamoDB_20120810.ListTables' },
    body: '{}',
  });
  if (listed.ok) notJudged.push('rights: a forged signature is accepted');

  await check('the stack is deleted', async () => {
    await run('npm run -s deploy -- --stage dev --destroy --yes');
  });
  return end();

  async function end(): Promise<0 | 1> {
    for (const what of notJudged) console.log(`not judged   ${what}`);
    operator.remove();
    await pushService.stop();
    return failed.length === 0 ? 0 : 1;
  }
}
