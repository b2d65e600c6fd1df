import type { NotificationContent } from '../contract/schemas/notification.ts';
import { type Share, shareSchema } from '../contract/share.ts';
import { divide, sharesOf } from '../lambdas/send/divide.ts';

/** One of each kind of share, as send passes it to deliver. Every optional field is set. */
export function shareSamples(): Readonly<Record<string, Share>> {
  return {
    synchronousBroadcast: sample({ subscribers: 100_000 }, false),
    asynchronousBroadcast: sample({ subscribers: 1_000_000 }, true),
    asynchronousToUsers: sample(
      { userIds: ['ada', 'bob'], values: [{ name: 'Ada' }, { name: 'Bob' }] },
      true,
    ),
  };
}

// A new field does not compile until it is here.
const content: Required<NotificationContent> = {
  title: 'Doors open',
  body: 'At eight.',
  url: 'https://www.example.com/night',
  icon: 'https://www.example.com/icon.png',
  image: 'https://www.example.com/image.png',
  badge: 'https://www.example.com/badge.png',
  ttl: 3600,
  urgency: 'high',
  topic: 'doors',
  tag: 'doors',
  renotify: true,
  requireInteraction: true,
  silent: false,
  actions: [
    {
      action: 'map',
      title: 'Map',
      url: 'https://www.example.com/map',
      icon: 'https://www.example.com/map.png',
    },
  ],
  lang: 'en',
  dir: 'ltr',
  timestamp: '2026-11-21T19:00:00Z',
  data: { order: { id: 7 } },
  appBadge: 1,
  worker: true,
};

function sample(audience: Parameters<typeof divide>[0], respondsAsync: boolean): Share {
  const pushesPerSecond = 20_000;
  const startedAt = Date.parse('2026-11-21T18:00:00Z');
  const broadcast = {
    projectId: 'shop',
    projectCreatedAt: '2026-11-01T00:00:00.000Z',
    notificationId: '01890a5d-ac96-774b-bcce-b302099a8057',
    requestId: 'JKJaXmPLvHcESHA=',
    content,
    eventsUrl: 'https://push.example.com/events',
    channels: ['news', 'sales'],
    seenSince: Date.parse('2026-10-21T18:00:00Z'),
    expiresAt: startedAt / 1000 + 2_592_000,
    deadline: respondsAsync
      ? undefined
      : { lastPushAt: startedAt + 22_000, endAt: startedAt + 25_000 },
  };
  const division = divide(audience, pushesPerSecond, respondsAsync);
  return shareSchema.parse(sharesOf(broadcast, audience, division, pushesPerSecond).at(-1));
}
