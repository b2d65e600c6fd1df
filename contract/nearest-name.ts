/** The name a mistyped one was most likely meant to be, or undefined where none is near. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(typed.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= best.name.length / 3 ? best.name : undefined;
}

/** Insertions, deletions, replacements and swaps of neighbours from one text to the other (optimal string alignment). */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    const [previous = [], beforePrevious = []] = rows;
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2];
      const swapped = isSwap ? beforePrevious[column - 2]! + 1 : replaced;
      current.push(Math.min(replaced, swapped, previous[column]! + 1, current[column - 1]! + 1));
    }
    rows.unshift(current);
  }
  return rows[0]![to.length]!;
}
