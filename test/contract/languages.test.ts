import { languagesOf, readsOneOf } from '../../contract/wire/languages.ts';
import { sendSchema } from '../../contract/wire/notification.ts';

const thirty =
  'ar bg bn cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nl pl pt ro ru sk sl'.split(
    ' ',
  );

/** The language of a reader, those of a send, and the one that the reader gets; undefined: that of the notification. */
test.each([
  // RFC 4647 §3.4: from the longest to the shortest, whole subtags only.
  ['de-CH', ['de', 'de-CH'], 'de-CH'],
  ['de-CH', ['fr', 'de'], 'de'],
  ['de', ['de-CH'], undefined],
  ['den', ['de'], undefined],
  ['de-CH-1996', ['de-CH', 'de'], 'de-CH'],
  ['de-1996', ['de-CH', 'de'], 'de'],
  // A single letter is left out with what follows it.
  ['zh-Hant-CN-x-private1-private2', ['zh-CN', 'zh-Hant'], 'zh-Hant'],
  ['de-u-co-phonebk', ['de'], 'de'],
  // In any case.
  ['pt-BR', ['PT-br'], 'pt-BR'],
  // Regions of a language are not each other's.
  ['pt-BR', ['pt-PT', 'pt'], 'pt'],
  ['pt-BR', ['pt-PT'], undefined],
  ['en-GB', ['en-US'], undefined],
  // Scripts: those of Chinese follow from the region.
  ['zh-TW', ['zh-Hans', 'zh-Hant'], 'zh-Hant'],
  ['zh-HK', ['zh-CN', 'zh-Hant'], 'zh-Hant'],
  ['zh-SG', ['zh-Hant', 'zh-Hans'], 'zh-Hans'],
  ['zh', ['zh-Hant', 'zh-Hans'], 'zh-Hans'],
  ['zh-CN', ['zh-TW'], undefined],
  ['zh-TW', ['zh-CN', 'zh'], 'zh'],
  ['zh-TW', ['zh-TW', 'zh-Hant'], 'zh-TW'],
  ['zh-Hant-TW', ['zh-TW'], 'zh-TW'],
  ['zh-Hant', ['zh-TW'], undefined],
  ['sr-Latn-RS', ['sr', 'sr-Latn'], 'sr-Latn'],
  ['sr-RS', ['sr-Latn', 'sr'], 'sr'],
  ['sr', ['sr-Latn'], undefined],
  // One language with two tags, and tags that have been replaced.
  ['no', ['nb'], 'nb'],
  ['nb-NO', ['no'], 'no'],
  ['nn', ['nb'], undefined],
  ['he', ['iw'], 'he'],
  // None is known, or none is meant.
  [undefined, ['de'], undefined],
  ['fr', ['de'], undefined],
  ['fr', [], undefined],
  ['sl-SI', thirty, 'sl'],
  ['ar-EG', thirty, 'ar'],
])('a reader of %s, of a send in %j, gets %s', (locale, tags, expected) => {
  const translations = Object.fromEntries(tags.map((tag) => [tag, { title: 'translated' }]));
  const { content } = languagesOf(sendSchema.parse({ title: 'its own', translations })).of(locale);
  expect(content.title).toBe(expected === undefined ? 'its own' : 'translated');
  expect(content.lang).toBe(expected);
});

test('each member comes from the longest tag that has it, and at last from the notification', () => {
  const notification = {
    title: 'Doors',
    body: 'At eight.',
    url: 'https://www.example.com/en',
    tag: 'doors',
    lang: 'en',
    translations: {
      'de-CH': { title: 'Türöffnung' },
      de: { title: 'Einlass', body: 'Um acht.', url: 'https://www.example.com/de' },
      ar: { title: 'الأبواب', dir: 'rtl' },
      'fr-CA': { url: 'https://www.example.com/ca' },
    },
  } as const;
  const { of, all } = languagesOf(notification);
  const { translations: _, ...own } = notification;
  expect(of('de-CH').content).toEqual({
    ...own,
    ...{ title: 'Türöffnung', body: 'Um acht.', url: 'https://www.example.com/de', lang: 'de-CH' },
  });
  expect(of('ar-EG').content).toEqual({ ...own, title: 'الأبواب', dir: 'rtl', lang: 'ar' });
  // The text is English, wherever a click leads.
  expect(of('fr-CA').content).toEqual({ ...own, url: 'https://www.example.com/ca' });
  expect(of('fr').content).toEqual(own);
  expect(all.map(({ tag }) => tag)).toEqual([undefined, 'de-CH', 'de', 'ar', 'fr-CA']);
});

test('readers of one language get the same object, so that it is serialised once', () => {
  const { of } = languagesOf({ title: 'Doors', translations: { de: { title: 'Einlass' } } });
  expect(of('de-AT')).toBe(of('de-CH'));
  expect(of('fr')).toBe(of(undefined));
});

test.each([
  ['de', ['de'], true],
  ['de-CH', ['de'], true],
  ['de', ['de-CH'], false],
  ['zh-TW', ['zh-Hant'], true],
  ['zh-TW', ['zh-CN'], false],
  ['zh-TW', ['zh'], true],
  ['no', ['nb'], true],
  ['fr', ['de', 'fr'], true],
  [undefined, ['de'], false],
])('whether a reader of %s is meant by %j: %s', (locale, tags, expected) => {
  expect(readsOneOf(tags)(locale)).toBe(expected);
});
