import {
  type OldWorkerName,
  oldWorkerNames,
  pushMessage,
  withOldWorker,
} from '../../contract/wire/message.ts';

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
