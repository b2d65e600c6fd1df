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

/** Escapes each line of a text; JSON in it parses to the same value. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON that is safe to print on a terminal. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2));
}
