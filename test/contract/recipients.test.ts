import fc from 'fast-check';
import { issuesOf } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import { sendSchema } from '../../contract/wire/notification.ts';
import { namesIn, rendered } from '../../contract/wire/placeholders.ts';

type Body = Readonly<Record<string, unknown>>;

const ada = { userId: 'ada', values: { name: 'Ada', v: 'x' } };

function issues(body: Body): string[] {
  const { error } = sendSchema.safeParse(body);
  return error ? issuesOf(error, sendSchema).map(({ path, message }) => `${path}: ${message}`) : [];
}

/** Issues of a send to Ada. */
const toAda = (fields: Body) => issues({ title: 'T', recipients: [ada], ...fields });

describe('recipients', () => {
  test('replace userIds, and their values are optional', () => {
    expect(issues({ title: 'T', recipients: [{ userId: 'ada' }] })).toEqual([]);
    expect(toAda({ title: '{{name}}', userIds: ['ada'] })).toEqual([
      'recipients: cannot be combined with "userIds"',
    ]);
  });

  test.each<[string, unknown, string]>([
    ['none', [], 'recipients: must have at least one recipient; leave the field out to broadcast'],
    ['null', null, 'recipients: must be an array of recipients'],
    ['a text', ['ada'], 'recipients[0]: must be an object'],
    ['no user id', [{}], 'recipients[0].userId: is required'],
    [
      'an empty user id',
      [{ userId: '' }],
      'recipients[0].userId: must be text of 1 to 256 characters',
    ],
    [
      'null as a number',
      [{ userId: 'a', appBadge: null }],
      'recipients[0].appBadge: must be a whole number from 0 to 99999',
    ],
    [
      'a number that is too large',
      [{ userId: 'a', appBadge: 100_000 }],
      'recipients[0].appBadge: must be a whole number from 0 to 99999',
    ],
    ['null as values', [{ userId: 'a', values: null }], 'recipients[0].values: must be an object'],
    [
      'an array as values',
      [{ userId: 'a', values: ['x'] }],
      'recipients[0].values: must be an object',
    ],
    [
      'an unknown field',
      [ada, { userId: 'bob', value: {} }],
      'recipients[1].value: is not a field of this object; did you mean "values"?',
    ],
    [
      'a user id twice',
      [{ userId: 'ada' }, { userId: 'bob' }, { userId: 'ada' }],
      'recipients[2].userId: is the user id of recipients[0] too; each may occur once',
    ],
    [
      'more than 50 values',
      [{ userId: 'a', values: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, 1])) }],
      'recipients[0].values: must have at most 50 values',
    ],
  ])('with %s are refused', (_, recipients, issue) => {
    expect(issues({ title: 'T', recipients })).toEqual([issue]);
  });

  test('are 1,000 at most', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ userId: `u${index}` }));
    expect(issues({ title: 'T', recipients: many(1000) })).toEqual([]);
    expect(issues({ title: 'T', recipients: many(1001) })).toEqual([
      'recipients: must have at most 1000 recipients',
    ]);
  });

  test('20 issues are listed at most', () => {
    const wrong = Array.from({ length: 1000 }, (_, index) => ({ userId: `u${index}`, other: 1 }));
    expect(issues({ title: 'T', recipients: wrong })).toHaveLength(limits.issues);
    const valueless = wrong.map(({ userId }) => ({ userId }));
    expect(issues({ title: '{{a}}{{b}}', recipients: valueless })).toHaveLength(limits.issues);
    const userIds = Array(1000).fill('');
    expect(issues({ title: 'T', userIds })).toHaveLength(limits.issues);
  });
});

describe('placeholders', () => {
  test('are allowed in the texts and URLs of a notification, with spaces in their braces', () => {
    const action = { action: 'a', title: '{{name}}', url: 'https://e.com/{{ name }}' };
    const url = 'https://e.com/{{ name  }}/?q={{v}}#{{name}}';
    const template = { title: '{{name}}', body: '{{ name }}', url, image: url, actions: [action] };
    expect(toAda(template)).toEqual([]);
    expect(namesIn(template)).toEqual(['name', 'v']);
  });

  test.each([
    '{{first-name}}',
    '{{}}',
    '{{ }}',
    '{{name',
    '{{name}',
    '{{{name}}}',
    '{{na me}}',
    '{{\tname}}',
    '{{ñ}}',
    `{{${'a'.repeat(33)}}}`,
    '{{name}} {{',
  ])('%j is refused in every text', (text) => {
    const actions = [{ action: 'a', title: text }];
    const message =
      'has double braces that are not a placeholder; write {{name}} with 1 to 32 letters, digits or underscores';
    expect(toAda({ title: text, body: text, actions })).toEqual([
      `title: ${message}`,
      `body: ${message}`,
      `actions[0].title: ${message}`,
    ]);
    expect(toAda({ url: `https://e.com/${text.replace(/\s/g, '-')}` })).toHaveLength(1);
  });

  test.each(['{name}', 'a }} b', '{ {name}}', '{{name}}}'])('%j is valid', (text) => {
    expect(toAda({ title: text, body: '{{name}}' })).toEqual([]);
  });

  test('are refused in the fields that are the same for everyone; data is literal', () => {
    const message = 'cannot have placeholders';
    expect(
      toAda({
        ...{ icon: 'https://e.com/{{v}}', badge: 'https://e.com/{{v}}' },
        ...{ tag: '{{v}}', topic: '{{v}}', data: { v: '{{v}} {{' } },
        actions: [{ action: '{{v}}', title: 'T', icon: 'https://e.com/{{v}}' }],
      }),
    ).toEqual(
      ['icon', 'badge', 'topic', 'tag', 'actions[0].icon'].map((at) => `${at}: ${message}`),
    );
  });

  test('are refused without recipients, in the texts that could have them', () => {
    const message =
      'has the placeholder {{ name }}, but there are no "recipients" with values for it';
    const text = 'Hello {{ name }}, {{other}}';
    const url = 'https://e.com/{{ name }}';
    const actions = [{ action: 'a', title: text, url }];
    const texts = { title: text, body: text, url, image: url, actions };
    for (const audience of [{}, { userIds: ['ada'] }, { channels: ['news'] }]) {
      expect(issues({ ...texts, ...audience })).toEqual(
        ['title', 'body', 'url', 'image', 'actions[0].title', 'actions[0].url'].map(
          (path) => `${path}: ${message}`,
        ),
      );
    }
  });

  test('without recipients, other double braces are literal, and so is data', () => {
    const title = '{{first-name}} {{}} {{ {name}}';
    const tag = '{{name}}';
    expect(issues({ title, body: title, tag, data: { text: '{{name}}' } })).toEqual([]);
  });
});

describe('a URL', () => {
  test.each([
    'https:///{{v}}',
    'https:\\\\{{v}}',
    'https://e.com{{v}}',
    'https://{{v}}@e.com',
    'https://u:{{v}}@e.com',
    'https://{{v}}',
    'https://{{v}}.e.com/',
    'https://e.com:{{v}}/',
    'https://e.com:8{{v}}/',
    'http{{v}}://e.com/',
    '{{v}}',
    '{{v}}://e.com',
    'https:{{v}}//e.com',
    'https://e.com\t{{v}}',
  ])('%j is refused: a value could change where it leads', (url) => {
    for (const v of ['x', '1', '']) {
      const recipients = [{ userId: 'ada', values: { v } }];
      for (const body of [
        { url },
        { image: url },
        { actions: [{ action: 'a', title: 'T', url }] },
      ]) {
        expect(issues({ title: 'T', recipients, ...body })).toHaveLength(1);
      }
    }
  });

  test('has its values percent-encoded', () => {
    const content = { title: 'T', url: 'https://e.com/{{v}}?{{v}}#{{ v }}' };
    expect(rendered(content, { v: '/?#&=@\\ é\t{{v}}' }).url).toBe(
      'https://e.com/%2F%3F%23%26%3D%40%5C%20%C3%A9%09%7B%7Bv%7D%7D?%2F%3F%23%26%3D%40%5C%20%C3%A9%09%7B%7Bv%7D%7D#%2F%3F%23%26%3D%40%5C%20%C3%A9%09%7B%7Bv%7D%7D',
    );
  });

  test.each<[string, string]>([
    ['https://e.com/{{v}}', '..'],
    ['https://e.com/{{v}}/x', '.'],
    ['https://e.com/.{{v}}/x', '.'],
    ['https://e.com/.{{v}}', ''],
    ['https://e.com/{{v}}{{v}}?q', '.'],
    ['https://e.com/%2E{{v}}#f', '.'],
  ])('%j with %j is refused: browsers resolve the segment', (url, v) => {
    expect(issues({ title: 'T', url, recipients: [{ userId: 'ada', values: { v } }] })).toEqual([
      'recipients[0]: makes an invalid "url": a path segment becomes "." or ".."',
    ]);
  });

  test.each<[string, string]>([
    ['https://e.com/../{{v}}', 'x'],
    ['https://e.com/{{v}}', '...'],
    ['https://e.com/{{v}}', '%2e'],
    ['https://e.com/{{v}}', ''],
    ['https://e.com/?{{v}}', '..'],
    ['https://e.com/a{{v}}', '..'],
  ])('%j with %j is valid', (url, v) => {
    expect(issues({ title: 'T', url, recipients: [{ userId: 'ada', values: { v } }] })).toEqual([]);
  });

  test('leads to the same origin whatever its values are, and has as many segments', () => {
    const url = fc.constantFrom(
      'https://e.com/{{v}}',
      'https://u@e.com:8/a/{{v}}/b?{{v}}',
      'http://e.com/?{{v}}',
    );
    fc.assert(
      fc.property(url, fc.string({ unit: 'binary' }), (template, v) => {
        const body = { title: 'T', url: template, recipients: [{ userId: 'ada', values: { v } }] };
        if (issues(body).length > 0) return;
        const parsed = new URL(rendered(body, { v }).url!);
        const expected = new URL(template.replaceAll('{{v}}', 'v'));
        expect(parsed.origin).toBe(expected.origin);
        expect(parsed.username).toBe(expected.username);
        expect(parsed.pathname.split('/')).toHaveLength(expected.pathname.split('/').length);
        expect(parsed.hash).toBe(expected.hash);
      }),
    );
  });
});

describe('values', () => {
  const title = 'Hello {{name}}';
  const second = (values: unknown) =>
    issues({ title, recipients: [ada, { userId: 'bob', values }] });

  test.each<[string, unknown, string]>([
    ['no value', {}, 'is required'],
    [
      'a number',
      { name: 7 },
      'must be text of at most 500 characters, not a number: write it in quotes, "7"',
    ],
    ['null', { name: null }, 'must be text of at most 500 characters'],
    [
      '501 characters',
      { name: 'x'.repeat(501) },
      'must be text of at most 500 characters, and has 501',
    ],
    ['half a surrogate pair', { name: '\ud83d' }, 'must be well-formed Unicode'],
  ])('%s for a placeholder is refused', (_, values, message) => {
    expect(second(values)).toEqual([`recipients[1].values.name: ${message}`]);
  });

  test('no values at all are refused if a placeholder needs one', () => {
    expect(second(undefined)).toEqual(['recipients[1].values.name: is required']);
  });

  test('without a placeholder in any text are refused', () => {
    const bare = { userId: 'bob', values: {} };
    expect(issues({ title: 'Hello {name}', recipients: [bare, ada, ada] })).toContain(
      'recipients[1].values: are used by no text; write a placeholder as {{name}}, such as in "title"',
    );
    expect(issues({ title: 'Hello', data: { text: '{{name}}' }, recipients: [ada] })).toHaveLength(
      1,
    );
    expect(issues({ title: 'Hello', recipients: [bare] })).toEqual([]);
  });

  test('those that no placeholder uses are not looked at', () => {
    expect(second({ name: 'Bob', age: 7, tags: [null], nested: {}, half: '\ud83d' })).toEqual([]);
  });

  test('a placeholder with the name of a built-in property needs a value', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      const recipients = [{ userId: 'ada', values: {} }];
      expect(issues({ title: `{{${name}}}`, recipients })).toEqual([
        `recipients[0].values.${name}: is required`,
      ]);
    }
  });

  test('of 0 to 500 characters are rendered once, as they are', () => {
    const values = { a: '{{b}} $& $1 <b>', b: '' };
    expect(rendered({ title: '{{a}}{{b}}{{ a }}' }, values).title).toBe(
      '{{b}} $& $1 <b>{{b}} $& $1 <b>',
    );
    expect(second({ name: '💣'.repeat(240) })).toEqual([]);
  });
});

describe('what becomes of a template', () => {
  const makes = (fields: Body, values: Record<string, string>) =>
    issues({ title: 'T', recipients: [ada, { userId: 'bob', values }], ...fields });

  test.each<[Body, Record<string, string>, string]>([
    [{ title: '{{v}}' }, { v: '' }, '"title": it must be text of 1 to 256 characters'],
    [
      { title: '{{v}}' },
      { v: 'x'.repeat(257) },
      '"title": it must be text of 1 to 256 characters, and has 257',
    ],
    [{ title: '{{v}} ' }, { v: '\u200b' }, '"title": it must have a visible character'],
    [
      { body: '{{v}}'.repeat(5) },
      { v: 'x'.repeat(401) },
      '"body": it must be text of at most 2000 characters, and has 2005',
    ],
    [
      { actions: [{ action: 'a', title: '{{v}}' }] },
      { v: '' },
      '"actions[0].title": it must be text of 1 to 64 characters',
    ],
    [{ url: 'https://e.com/?{{v}}' }, { v: '%'.repeat(500) }, ''],
    [
      { url: `https://e.com/?{{v}}${'x'.repeat(600)}` },
      { v: '%'.repeat(500) },
      '"url": it must be text of 1 to 2048 characters, and has 2115',
    ],
  ])('%j has the bounds of send', (fields, values, issue) => {
    expect(makes(fields, values)).toEqual(
      issue === '' ? [] : [`recipients[1]: makes an invalid ${issue}`],
    );
  });

  test('the template itself has them too', () => {
    expect(toAda({ title: `{{${' '.repeat(256)}name}}` })).toEqual([
      'title: must be text of 1 to 256 characters, and has 264',
    ]);
  });
});
