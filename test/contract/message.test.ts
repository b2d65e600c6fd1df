import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import {
  eventCounterUrl,
  type OldWorkerName,
  oldWorkerNames,
  pushMessage,
  withOldWorker,
} from '../../contract/wire/message.ts';
import { displayedNames, sampleContent } from '../../contract/wire/send-fields.ts';
import { maxEventWindowSeconds } from '../../contract/wire/worker-values.ts';

test('a push message is declarative and mutable', () => {
  const content = {
    title: 'T',
    body: 'B',
    url: 'https://example.com/',
    icon: 'https://example.com/i',
  };
  const message = pushMessage('id-1', content, 'https://push.example.com/events');
  expect(JSON.parse(JSON.stringify(message))).toEqual({
    web_push: 8030,
    notification: {
      title: 'T',
      body: 'B',
      navigate: 'https://example.com/',
      icon: 'https://example.com/i',
      data: { carillon: 1, id: 'id-1', events: 'https://push.example.com/events' },
      mutable: true,
    },
    mutable: true,
  });
});

test('each field is where browsers read it, and no other is in the message', () => {
  const content = { ...sampleContent, worker: true, events: true };
  const message = pushMessage('id-1', content, 'https://push.example.com/events');
  const asSent = displayedNames.map((name) => [name, sampleContent[name]]);
  expect(JSON.parse(JSON.stringify(message))).toEqual({
    web_push: 8030,
    notification: {
      ...Object.fromEntries(asSent),
      navigate: 'https://www.example.com/night',
      timestamp: Date.UTC(2026, 10, 21, 18, 0, 0, 500),
      actions: [
        {
          action: 'map',
          title: 'Map',
          navigate: 'https://www.example.com/map',
          icon: 'https://www.example.com/map.png',
        },
        { action: 'later', title: 'Later', navigate: 'https://www.example.com/night' },
      ],
      data: {
        carillon: 1,
        id: 'id-1',
        events: 'https://push.example.com/events',
        whenFocused: 'page',
        data: { order: { id: 7 } },
      },
      app_badge: 3,
      mutable: true,
    },
    app_badge: 3,
    mutable: true,
  });
});

test('an app badge of 0, which removes it, is in the message', () => {
  const message = pushMessage('id-1', { title: 'T', appBadge: 0 }, 'https://a.example/events');
  expect(message).toMatchObject({ app_badge: 0, notification: { app_badge: 0 } });
});

test.each([
  [undefined, true],
  [true, true],
  [false, undefined],
])('with `worker: %p` both members `mutable` are %p', (worker, mutable) => {
  const content = { title: 'T', url: 'https://example.com/', worker };
  const message = pushMessage('id-1', content, 'https://a.example/events');
  const { notification, ...outer } = JSON.parse(JSON.stringify(message));
  expect([outer.mutable, notification.mutable]).toEqual([mutable, mutable]);
  expect(notification).not.toHaveProperty('worker');
});

test('a push message without a URL opens the root of the site', () => {
  const { notification } = pushMessage('id-1', { title: 'T' }, 'https://push.example.com/events');
  expect(notification.navigate).toBe('/');
});

test.each([
  [0, undefined],
  [20, 20],
])('an event window of %i s is in the message as %p', (seconds, window) => {
  const { data } = pushMessage(
    'id-1',
    { title: 'T' },
    'https://a.example/events',
    seconds,
  ).notification;
  expect(JSON.parse(JSON.stringify(data)).window).toBe(window);
});

test('send never spreads events longer than a worker can wait', () => {
  expect(sliceSizes.eventWindowSeconds).toBeLessThanOrEqual(maxEventWindowSeconds);
});

test.each([
  [0, 'https://push.example.com/events'],
  [7, 'https://push.example.com/events?tally=7'],
])('the events of event counter %i go to %s', (counter, url) => {
  expect(eventCounterUrl('https://push.example.com/events', counter)).toBe(url);
});

test('a browser that is not in the sample is told to report clicks only', () => {
  const message = pushMessage('id-1', { title: 'T' }, 'https://push.example.com/events', 7, false);
  expect(message.notification.data).toMatchObject({ report: 'clicked', window: 7 });
  const ofSample = pushMessage('id-1', { title: 'T' }, 'https://push.example.com/events', 7, true);
  expect(ofSample.notification.data).not.toHaveProperty('report');
});

const url = 'https://shop.example/orders/7';
const icon = 'https://shop.example/icon.png';
const message = pushMessage(
  'id-1',
  { title: 'T', body: 'B', icon, url },
  'https://a.example/events',
);
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test.each<[OldWorkerName, object]>([
  ['onesignal', { title: 'T', alert: 'B', icon, custom: { i: 'id-1', u: url } }],
  ['perfecty', { title: 'T', body: 'B', icon, extra: { url_to_open: url } }],
  ['pusher', { data: { pusher: {} } }],
  ['firebase', { fcmOptions: { link: url } }],
  ['flat', { title: 'T', body: 'B', icon, url }],
])('a message for the worker of %s has its members beside Carillon’s', (name, onTop) => {
  const { notification, ...others } = withOldWorker(name, message);
  const { notification: own, ...ofOwn } = message;
  expect(others).toEqual({ ...ofOwn, ...onTop });
  expect(notification).toEqual({ ...own, ...(name === 'pusher' && { deep_link: url }) });
});

test.each(oldWorkerNames)(
  'a message for the worker of %s has what the notification has, and is not much larger',
  (name) => {
    const short = pushMessage('id-1', { title: 'T' }, 'https://a.example/events');
    const text = JSON.stringify(withOldWorker(name, short));
    expect(text).toContain(name === 'onesignal' || name === 'flat' ? '"title":"T"' : '"/"');
    expect(text).not.toContain('null');
    expect(bytes(withOldWorker(name, message)) - bytes(message)).toBeLessThan(210);
  },
);

// WebKit's NotificationJSONParser refuses a declarative message with a member of the wrong type that it knows.
const declarative = {
  title: 'string',
  body: 'string',
  icon: 'string',
  tag: 'string',
  lang: 'string',
  dir: 'string',
  silent: 'boolean',
  navigate: 'string',
  mutable: 'boolean',
};

test.each(oldWorkerNames)('WebKit takes a message for the worker of %s as declarative', (name) => {
  const content = {
    title: 'T',
    body: 'B',
    icon,
    url,
    tag: 't',
    silent: true,
    lang: 'de',
    dir: 'ltr',
  } as const;
  const { web_push, notification } = withOldWorker(
    name,
    pushMessage('id-1', content, 'https://a.example/events'),
  );
  expect(web_push).toBe(8030);
  for (const [member, type] of Object.entries(declarative)) {
    expect([member, typeof notification[member as keyof typeof notification]]).toEqual([
      member,
      type,
    ]);
  }
});
