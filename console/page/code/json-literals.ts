/** JSON text, written so that a language reads it as the same value. */

/**
 * Characters that JSON allows unescaped, but that a terminal runs as keys, that Go refuses (U+FEFF), that
 * end a line of JavaScript, or that show code in another order than it has.
 */
const deceptive = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** JSON text on several lines, with only characters that are safe to copy. */
export function jsonOf(value: unknown): string {
  // The line feeds that indent the text are not part of the value.
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(deceptive, jsonEscape))
    .join('\n');
}

function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Text without control characters in single quotes for PHP. */
export function phpString(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** Text without control characters in single quotes for JavaScript. */
export function javaScriptString(text: string): string {
  return jsonOf(text).replace(jsonString, (_, content: string) => singleQuoted(content));
}

/** The content of a string, and the colon of a name. A backslash belongs to the character after it. */
const jsonString = /"((?:\\.|[^"\\])*)"(:?)/g;

/** An expression of JavaScript, formatted as in the documentation. */
export function javaScriptLiteral(json: string): string {
  return json.replace(jsonString, (_, content: string, colon: string) => {
    if (colon === '') return singleQuoted(content);
    // The name alone would set the prototype.
    if (content === '__proto__') return "['__proto__']:";
    return /^[A-Za-z_]\w*$/.test(content) ? `${content}:` : `${singleQuoted(content)}:`;
  });
}

/** @param content of a string of JSON. */
function singleQuoted(content: string): string {
  return `'${content.replace(/\\.|'/g, (found) => singleQuotedEscapes[found] ?? found)}'`;
}

const singleQuotedEscapes: Readonly<Record<string, string>> = { "'": "\\'", '\\"': '"' };

const pythonConstants: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
};

/** An expression of Python. Its strings have the escapes of JSON. */
export function pythonLiteral(json: string): string {
  return json.replace(/"(?:\\.|[^"\\])*"|\w+/g, (token) => pythonConstants[token] ?? token);
}

/** JSON text in a raw string of Go, which cannot contain a backtick. */
export function goRawString(json: string): string {
  return `\`${json.replaceAll('`', '\\u0060')}\``;
}
