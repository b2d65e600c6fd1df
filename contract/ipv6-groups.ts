/**
 * The eight groups of a valid IPv6 address, in any spelling, without its zone. Ours, because a library
 * for addresses adds 12 kB to each bundle.
 */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail = ''] = address.replace(/%.*/, '').split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail);
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

function groupsOf(text: string): number[] {
  return text.split(':').flatMap((part) => {
    if (part === '') return [];
    if (!part.includes('.')) return [Number.parseInt(part, 16)];
    const [a, b, c, d] = part.split('.').map(Number) as [number, number, number, number];
    return [(a << 8) | b, (c << 8) | d];
  });
}
