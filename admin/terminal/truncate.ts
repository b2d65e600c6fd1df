/** The text, or as much of it as fits before an ellipsis. */
export function truncate(text: string, lengthCharacters: number): string {
  const characters = [...text];
  return characters.length > lengthCharacters
    ? `${characters.slice(0, lengthCharacters - 1).join('')}…`
    : text;
}
