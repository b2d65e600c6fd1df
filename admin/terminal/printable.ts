// Control characters (also ESC and CSI), line separators, unpaired surrogates, and characters that
// change the text direction. Each is one UTF-16 code unit.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

/** Escapes, as JSON does, the characters that could control a terminal. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** JSON that is safe to print on a terminal and parses to the same value. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
}
