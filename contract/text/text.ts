/** 12345 as `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** `1 subscriber`, `1,200 subscribers`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Text in single quotes for Bash, which then interprets no character but the quote. */
export function shellString(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
