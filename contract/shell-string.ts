/** Text in single quotes for Bash, which then interprets no character but the quote. */
export function shellString(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
