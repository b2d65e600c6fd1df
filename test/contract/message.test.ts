import { pushMessage } from '../../contract/message.ts';

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
