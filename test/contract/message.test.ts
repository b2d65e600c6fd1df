import { limits } from '../../contract/limits.ts';
import { maxEventWindow, pushMessage, tallyUrl } from '../../contract/message.ts';

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
  expect(limits.share.eventWindow).toBeLessThanOrEqual(maxEventWindow);
});

test.each([
  [0, 'https://push.example.com/events'],
  [7, 'https://push.example.com/events?tally=7'],
])('the events of tally %i go to %s', (tally, url) => {
  expect(tallyUrl('https://push.example.com/events', tally)).toBe(url);
});
