import { printable, printableJson } from '../../../admin/terminal/terminal.ts';

describe('printable', () => {
  it.each([
    ['\u001b[31m', '\\u001b[31m'],
    ['a\nb\tc\r', 'a\\u000ab\\u0009c\\u000d'],
    ['\u007f\u009b', '\\u007f\\u009b'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\u202e\u2066', '\\u202e\\u2066'],
    ['\ud800', '\\ud800'],
  ])('escapes %j', (text, escaped) => {
    expect(printable(text)).toBe(escaped);
  });

  it.each(['', 'Übergröße', '鐘楼', '🔔', '👩‍👩‍👧'])('keeps %j', (text) => {
    expect(printable(text)).toBe(text);
  });
});

describe('printableJson', () => {
  it('parses to the same value and has no control characters except line feeds', () => {
    const value = { name: 'a\u001b\u009b\n\u2028\u202e"\\🔔', list: [1, null] };
    const text = printableJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
    expect(text.split('\n')).toHaveLength(7);
  });
});
