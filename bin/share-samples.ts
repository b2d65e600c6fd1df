import type { ProjectRef } from '../contract/project.ts';
import type { NotificationContent } from '../contract/schemas/notification.ts';
import { type Slice, sliceSchema } from '../contract/slice.ts';
import { divide, slicesOf } from '../lambdas/send/divide.ts';

/** One of each kind of slice, as send passes it to deliver. Every optional field is set. */
export function sliceSamples(): Readonly<Record<string, Slice>> {
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

function sample(audience: Parameters<typeof divide>[0], respondsAsync: boolean): Slice {
  const pushesPerSecond = 20_000;
  const startedAt = Date.parse('2026-11-21T18:00:00Z');
  const broadcast = {
    projectId: 'shop',
    project: 'SRpHcXL0WXAa' as ProjectRef,
    notificationId: '01890a5d-ac96-774b-bcce-b302099a8057',
    requestId: 'JKJaXmPLvHcESHA=',
    sentAt: startedAt,
    content,
    eventsUrl: 'https://push.example.com/events',
    conditions: { channels: ['news', 'sales'], seenWithinDays: 30 },
    expiresAt: startedAt / 1000 + 2_592_000,
    awaitedSince: respondsAsync ? undefined : startedAt,
  };
  const division = divide(audience, pushesPerSecond, respondsAsync);
  return sliceSchema.parse(slicesOf(broadcast, audience, division, pushesPerSecond).at(-1));
}
