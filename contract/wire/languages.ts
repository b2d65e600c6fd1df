import type { Template } from './placeholders.ts';
import type { Translation } from './send-fields.ts';

/** Language tags (BCP 47), and which translation a reader gets: Lookup of RFC 4647 §3.4. */

/**
 * The tags under which a reader's language is looked up, from the longest to the shortest: `zh-Hant-TW`, `zh-Hant` and
 * `zh` for `zh-TW`.
 * @param locale as `canonicalTag`.
 */
export function lookupTags(locale: string): readonly string[] {
  return truncations(comparable(withScript(locale)));
}

/**
 * A sender's tag as {@link lookupTags} spells it. `zh` alone is for all scripts.
 * @param tag as `canonicalTag`.
 */
export function lookupTag(tag: string): string {
  return comparable(new Intl.Locale(tag).region === undefined ? tag : withScript(tag));
}

function truncations(tag: string): readonly string[] {
  const subtags = tag.split('-');
  const tags: string[] = [];
  while (subtags.length > 0) {
    tags.push(subtags.join('-'));
    subtags.pop();
    // A single letter begins an extension, and means nothing without what follows.
    if (subtags.at(-1)?.length === 1) subtags.pop();
  }
  return tags;
}

/** Chinese with its script: where it is read in which one is not to be seen from the region. */
function withScript(tag: string): string {
  const locale = new Intl.Locale(tag);
  if (locale.language !== 'zh' || locale.script !== undefined) return tag;
  return new Intl.Locale(tag, { script: locale.maximize().script }).toString();
}

/** `no` is what most sites call `nb`. */
function comparable(tag: string): string {
  return tag.replace(/^no(?=-|$)/, 'nb');
}

/** Whether a condition on some languages holds for a reader. `de` also means `de-CH`. @param tags of the sender. */
export function readsOneOf(tags: readonly string[]): (locale: string | undefined) => boolean {
  const wanted = new Set(tags.map(lookupTag));
  return remembered(
    (locale) => locale !== undefined && lookupTags(locale).some((tag) => wanted.has(tag)),
  );
}

/** The languages of tags: with one of them begins each reader's tag for which {@link readsOneOf} may hold. */
export function languagesIn(tags: readonly string[]): readonly string[] {
  const languages = tags.map((tag) => new Intl.Locale(tag).language);
  const isNorwegian = languages.some((one) => comparable(one) === 'nb');
  return [...new Set([...languages, ...(isNorwegian ? ['nb', 'no'] : [])])];
}

/** A notification in one language. */
export interface InLanguage<Content> {
  /** Of the translation, as the sender has written it. Undefined: the notification's own. */
  readonly tag?: string;
  readonly content: Content;
}

/**
 * The languages of a notification.
 * @returns all of them, and a function that gives the one of a reader, always as the same object.
 */
export function languagesOf<Content extends Template>({ translations, ...rest }: Content) {
  const content = rest as Content;
  const own: InLanguage<Content> = { content };
  const entries = Object.entries<Translation>(translations ?? {});
  const given = new Map(entries.map(([tag, one]) => [lookupTag(tag), { tag, one }]));
  const translated = new Map(
    [...given].map(([key, { tag }]) => {
      const found = truncations(key).flatMap((shorter) => given.get(shorter) ?? []);
      return [key, { tag, content: completed(content, found) }];
    }),
  );
  const of = (locale: string | undefined): InLanguage<Content> => {
    const key = locale && lookupTags(locale).find((tag) => translated.has(tag));
    return (key && translated.get(key)) || own;
  };
  return { all: [own, ...translated.values()], of: given.size === 0 ? () => own : remembered(of) };
}

/** Each member of the first translation that has it. The language is that of the title or the text. */
function completed<Content extends Template>(
  content: Content,
  translations: readonly { readonly tag: string; readonly one: Translation }[],
): Content {
  const members = translations.map(({ one }) => one).reverse();
  const ofText = translations.find(({ one: { title, body } }) => (title ?? body) !== undefined);
  return Object.assign({}, content, ...members, ofText && { lang: ofText.tag });
}

/** A function whose result for a value is computed once. It must not be undefined. */
export function remembered<Value, Result>(of: (value: Value) => Result) {
  const known = new Map<Value, Result>();
  return (value: Value): Result => {
    let result = known.get(value);
    if (result === undefined) {
      result = of(value);
      known.set(value, result);
    }
    return result;
  };
}
