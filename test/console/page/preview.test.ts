import fc from 'fast-check';
import { platforms, shownOn } from '../../../console/page/preview.tsx';
import { limits } from '../../../contract/wire/limits.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';
import type { Platform } from '../../../contract/wording/field-texts.ts';

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
  ['chrome', { icon, image, buttons, timestamp }, [/No badge/]],
  ['firefox', { icon, buttons }, [/No image/, /No badge/, /No alert/, /time/, /No number/]],
  [
    'macos',
    { buttons: [] },
    [/No icon/, /No image/, /No badge/, /replace/, /disappears/, /No buttons/, /time/],
  ],
  ['android', { icon, image, badge, buttons, timestamp }, [/until it is dismissed/, /No number/]],
])(
  '%s shows the fields that it supports, and the remarks begin with the others',
  (platform, expected, notShown) => {
    const { remarks, ...shown } = shownOn(platform, everything);
    expect(shown).toEqual({
      ...{ title: 'Doors open at eight', body: 'Your seat is 14C.', site: 'shop.example' },
      ...nothing,
      ...expected,
    });
    for (const [index, pattern] of notShown.entries()) expect(remarks[index]).toMatch(pattern);
    expect(shownOn(platform, { title: 'Doors open' }).remarks).toEqual([]);
  },
);

test('what stays on the screen, and what makes no sound, is said where it has an effect', () => {
  const remarksOf = (platform: Platform) =>
    shownOn(platform, { title: 'Doors open', requireInteraction: true, silent: true }).remarks;
  expect(remarksOf('chrome')).toEqual([
    'It stays on the screen until the person clicks or dismisses it.',
    'It makes no sound.',
  ]);
  expect(remarksOf('macos').join()).not.toMatch(/stays on the screen/);
});

test('options that are off have no remark', () => {
  const off = { title: 'Doors open', requireInteraction: false, silent: false, actions: [] };
  for (const platform of platforms) expect(shownOn(platform, off).remarks).toEqual([]);
});

test.each<[Platform, number, number]>([
  ['chrome', 64, 120],
  ['firefox', 50, 200],
  ['macos', 35, 100],
  ['android', 40, 240],
])('%s: longer texts end with … after the length that it shows', (platform, title, body) => {
  const fitting = { title: 'a'.repeat(title), body: 'b'.repeat(body) };
  expect(shownOn(platform, fitting)).toMatchObject({ ...fitting, remarks: [] });
  const long = shownOn(platform, { title: `${fitting.title}a`, body: `${fitting.body}b` });
  expect(long).toMatchObject({
    title: `${'a'.repeat(title - 1)}…`,
    body: `${'b'.repeat(body - 1)}…`,
    remarks: [
      `The title is cut off after about ${title} characters.`,
      `The body is cut off after about ${body} characters.`,
    ],
  });
});

test('Android shows one line of the body with an image', () => {
  const body = 'b'.repeat(61);
  expect(shownOn('android', { title: 'a', body }).body).toBe(body);
  expect(shownOn('android', { title: 'a', body, image }).body).toBe(`${'b'.repeat(59)}…`);
});

test('long buttons are cut off', () => {
  const actions = [{ action: 'a', title: 'Show the whole route' }];
  const { buttons, remarks } = shownOn('chrome', { title: 'a', actions });
  expect(buttons).toEqual(['Show the whole rou…']);
  expect(remarks).toEqual(['Buttons are cut off after about 19 characters.']);
});

test('a cut never divides what people see as one character', () => {
  const family = '👩‍👩‍👧';
  const { title } = shownOn('macos', { title: family.repeat(36) });
  expect(title).toBe(`${family.repeat(34)}…`);
});

test('pictures are shown only from complete web URLs, so that nothing else is requested', () => {
  for (const url of ['', 'icon.png', '//shop.example', 'javascript:alert(1)', 'data:image/png,']) {
    const shown = shownOn('android', { title: 'a', icon: url, image: url, badge: url });
    expect(shown).toMatchObject({ icon: undefined, image: undefined, badge: undefined });
    expect(shown.remarks).toEqual([]);
  }
});

test('the site is a placeholder until there is a URL', () => {
  expect(shownOn('chrome', { title: 'a' }).site).toBe('your-site.example');
  expect(shownOn('chrome', { title: 'a', url: 'https://' }).site).toBe('your-site.example');
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
