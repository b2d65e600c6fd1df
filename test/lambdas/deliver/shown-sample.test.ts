import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { withOldWorker } from '../../../contract/wire/message.ts';
import type { Message } from '../../../lambdas/push/pushing/push.ts';
import { uuidV7 } from '../../../lambdas/send/sending.ts';
import { Random } from '../../simulation/time/random.ts';
import { deliverySetup, project, recipients, startMs } from './delivery-setup.ts';

const shownSample = 10;
const random = new Random(1);
const randomBytes = (length: number) => Uint8Array.from({ length }, () => random.integer(0, 255));

/** A push service, its part of the browsers, and how often they show a notification. */
const services = [
  { origin: 'https://fcm.googleapis.com', part: 0.7, shows: 0.6 },
  { origin: 'https://web.push.apple.com', part: 0.2, shows: 0.9 },
  { origin: 'https://updates.push.services.mozilla.com', part: 0.1, shows: 0.2 },
] as const;

const [template] = recipients(1);
const browsers = Array.from({ length: 30_000 }, () => {
  const drawn = random.next();
  const { origin, shows } = services[drawn < 0.7 ? 0 : drawn < 0.9 ? 1 : 2];
  return { recipient: { ...template!, origin, endpointHash: randomBytes(32) }, shows };
});

/** Who reports that a new notification was shown. */
async function newSample() {
  const setup = deliverySetup({ audience: recipients(1) });
  const notificationId = uuidV7(new Date(startMs), randomBytes);
  await setup.runHere({ notificationId, shownSample });
  const [message] = setup.chunks[0]!.messages;
  return (recipient: Recipient) => reportsShown(message!, recipient);
}

function bytesFor(message: Message, recipient: Recipient): Buffer {
  return typeof message === 'function' ? message(recipient) : message;
}

/** The slice has few messages, for many recipients. */
const read = new WeakMap<Buffer, boolean>();

function reportsShown(message: Message, recipient: Recipient): boolean {
  const text = bytesFor(message, recipient);
  const known = read.get(text) ?? !text.includes('"report":"clicked"');
  read.set(text, known);
  return known;
}

test('the interval that the documents give contains the number of browsers that showed it', async () => {
  const broadcasts = 60;
  const errors: number[] = [];
  for (let broadcast = 0; broadcast < broadcasts; broadcast += 1) {
    const isInSample = await newSample();
    let [shown, reports] = [0, 0];
    for (const { recipient, shows } of browsers) {
      if (!random.chance(shows)) continue;
      shown += 1;
      if (isInSample(recipient)) reports += 1;
    }
    const half = 1.96 * Math.sqrt((shownSample - 1) * shown);
    errors.push((shownSample * reports - shown) / half);
  }
  const within = errors.filter((error) => Math.abs(error) <= 1).length;
  // 57 of 60 are expected; a correct sample has fewer than 51 once in 1,000 runs.
  expect(within).toBeGreaterThanOrEqual(51);
  const mean = errors.reduce((sum, error) => sum + error, 0) / broadcasts;
  // Three standard errors of a mean whose deviation is 1 / 1.96.
  expect(Math.abs(mean)).toBeLessThan(3 / 1.96 / Math.sqrt(broadcasts));
});

test('each slice and each push service has its part of the sample', async () => {
  const isInSample = await newSample();
  const sliceOf = ({ endpointHash }: Recipient) => `slice ${endpointHash[0]! >> 4}`;
  const groups = new Map<string, { size: number; sampled: number }>();
  for (const { recipient } of browsers) {
    for (const name of [sliceOf(recipient), recipient.origin]) {
      const group = groups.get(name) ?? { size: 0, sampled: 0 };
      groups.set(name, group);
      group.size += 1;
      if (isInSample(recipient)) group.sampled += 1;
    }
  }
  expect(groups.size).toBe(16 + services.length);
  for (const { size, sampled } of groups.values()) {
    const deviation = Math.sqrt((size * (shownSample - 1)) / shownSample ** 2);
    expect(Math.abs(sampled - size / shownSample)).toBeLessThan(4 * deviation);
  }
});

test('each notification has another sample, and a repetition the same', async () => {
  const { recipient } = browsers[0]!;
  const samples = [];
  for (let broadcast = 0; broadcast < 100; broadcast += 1) samples.push(await newSample());
  const reported = samples.filter((isInSample) => isInSample(recipient)).length;
  expect(reported).toBeGreaterThan(0);
  expect(reported).toBeLessThan(30);
  for (const isInSample of samples) expect(isInSample(recipient)).toBe(isInSample(recipient));
});

test('without a sample each browser reports', async () => {
  const setup = deliverySetup({ audience: recipients(1) });
  await setup.runHere({});
  const [message] = setup.chunks[0]!.messages;
  for (const { recipient } of browsers.slice(0, 100)) {
    expect(reportsShown(message!, recipient)).toBe(true);
  }
});

test.each<[size: string, body: string, hasMembers: boolean]>([
  ['short', 'B', true],
  // With the members it would be too large.
  ['long', 'B'.repeat(3700), false],
])(
  'in a sample, a %s message to an old service worker is the own one, with its members if they fit',
  async (_, body, hasMembers) => {
    const oldWorker = { name: 'flat', until: new Date(startMs + 60_000).toISOString() } as const;
    const projects = {
      refresh: async () => ({
        ...project,
        settings: { ...project.settings, oldWorker },
      }),
    };
    const setup = deliverySetup({ audience: recipients(1), overrides: { projects } });
    await setup.run({ content: { title: 'T', body }, shownSample });
    const [message] = setup.chunks[0]!.messages;
    const sampled = new Set<boolean>();
    for (const { recipient } of browsers.slice(0, 100)) {
      sampled.add(reportsShown(message!, recipient));
      const own = String(bytesFor(message!, recipient));
      const withMembers = JSON.stringify(withOldWorker('flat', JSON.parse(own)));
      expect(withMembers.length <= limits.messageBytes).toBe(hasMembers);
      const imported = String(bytesFor(message!, { ...recipient, imported: true }));
      expect(imported).toBe(hasMembers ? withMembers : own);
    }
    expect(sampled).toEqual(new Set([true, false]));
  },
);
