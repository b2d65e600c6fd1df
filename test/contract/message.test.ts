import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import { eventCounterUrl, pushMessage } from '../../contract/wire/message.ts';
import { sampleContent, shownNames } from '../../contract/wire/send-fields.ts';
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
  const content = { ...sampleContent, worker: true };
  const message = pushMessage('id-1', content, 'https://push.example.com/events');
  const asSent = shownNames.map((name) => [name, sampleContent[name]]);
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
