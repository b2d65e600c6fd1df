import fc from 'fast-check';
import { shownOn } from '../../../console/page/preview.tsx';
import { limits } from '../../../contract/wire/limits.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';
import type { Platform } from '../../../contract/wording/field-texts.ts';

const platforms: readonly Platform[] = ['desktop', 'android', 'iphone'];
const everything: SendRequest = {
  title: 'Doors open at eight',
  body: 'Your seat is 14C.',
  url: 'https://shop.example/orders/7',
  icon: 'https://shop.example/icon.png',
  image: 'https://shop.example/image.png',
  badge: 'https://shop.example/badge.png',
  actions: [
    { action: 'a', title: 'Track it' },
    { action: 'b', title: 'Later' },
  ],
  tag: 'order-7',
  renotify: true,
  requireInteraction: true,
  silent: true,
  timestamp: '2026-11-21T19:00:00Z',
  appBadge: 3,
};
const { icon, image, badge, timestamp } = everything;
const buttons = ['Track it', 'Later'];
const nothing = { icon: undefined, image: undefined, badge: undefined, timestamp: undefined };

test.each<[Platform, shown: object, notShown: readonly RegExp[]]>([
  ['desktop', { icon, image, buttons, timestamp }, [/No badge/]],
  ['android', { icon, image, badge, buttons, timestamp }, [/until it is dismissed/, /No number/]],
  [
    'iphone',
    { buttons: [] },
    [
      ...[/No icon/, /No image/, /No badge/, /replace/, /replaced/, /disappears/],
      ...[/sound/, /No buttons/, /time/],
    ],
  ],
])(
  '%s shows the fields that it supports, and the remarks begin with the others',
  (platform, expected, notShown) => {
    const { remarks, ...shown } = shownOn(platform, everything);
    expect(shown).toEqual({ site: 'shop.example', ...nothing, ...expected });
    for (const [index, pattern] of notShown.entries()) expect(remarks[index]).toMatch(pattern);
    expect(shownOn(platform, { title: 'Doors open' }).remarks).toEqual([]);
  },
);

test('options that are off have no remark', () => {
  const off = { title: 'Doors open', requireInteraction: false, silent: false, actions: [] };
  for (const platform of platforms) expect(shownOn(platform, off).remarks).toEqual([]);
});

test('pictures are shown only from complete web URLs, so that nothing else is requested', () => {
  for (const url of ['', 'icon.png', '//shop.example', 'javascript:alert(1)', 'data:image/png,']) {
    const shown = shownOn('android', { title: 'a', icon: url, image: url, badge: url });
    expect(shown).toMatchObject({ icon: undefined, image: undefined, badge: undefined });
    expect(shown.remarks).toEqual([]);
  }
});

test('without a URL, no domain is invented', () => {
  expect(shownOn('desktop', { title: 'a' }).site).toBe('Your site');
  expect(shownOn('desktop', { title: 'a', url: 'https://' }).site).toBe('Your site');
});

test('any half-written notification can be shown', () => {
  const text = fc.string({ unit: 'binary' });
  const action = fc.record({ action: text, title: text });
  const written: fc.Arbitrary<SendRequest> = fc.record(
    {
      title: text,
      body: text,
      url: text,
      icon: text,
      image: text,
      timestamp: text,
      appBadge: fc.double(),
      actions: fc.array(action, { maxLength: 4 }),
    },
    { requiredKeys: ['title'] },
  );
  fc.assert(
    fc.property(fc.constantFrom(...platforms), written, (platform, notification) => {
      const { buttons, timestamp } = shownOn(platform, notification);
      expect(buttons.length).toBeLessThanOrEqual(limits.actions);
      if (timestamp !== undefined) expect(() => new Date(timestamp).toISOString()).not.toThrow();
    }),
  );
});
