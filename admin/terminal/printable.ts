// Control characters (ESC and CSI among them), line separators, half surrogate pairs, and what turns
// the direction of the text around it. All of them are one code unit.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

/** A text as a terminal may show it: what could act on the terminal is escaped, as in JSON. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** JSON that a terminal may show, which reads back as the same value. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
}
