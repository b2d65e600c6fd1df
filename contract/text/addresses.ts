/**
 * The eight groups of a valid IPv6 address, in any spelling, without its zone. Ours, because a library
 * for addresses adds 12 kB to each bundle.
 */
export function ipv6Groups(address: string): number[] {
  // Its spelling is that of RFC 5952, without dots.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`);
  const [before = [], after = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))));
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/**
 * Whether an address is at a name that is reserved for examples and tests (RFC 2606 §2 and §3), or at a private one: nobody
 * can be reached there. Documents have such addresses; Apple's push service refuses the private ones.
 * @param address an e-mail address, with or without `mailto:`, or a URL.
 */
export function isExampleAddress(address: string): boolean {
  const host = address.includes('@') ? address.split('@').at(-1)! : new URL(address).hostname;
  const isExample = /(^|\.)(example(\.(com|net|org))?|test|invalid|localhost)$/i.test(host);
  return isExample || /^[^.]+$|\.(local|internal|lan)$/i.test(host);
}

/**
 * The path of a route with its parameters filled in, percent-encoded.
 * @param path in API Gateway's notation.
 */
export function pathOf(
  { path }: { readonly path: string },
  parameters: Readonly<Record<string, string>>,
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}
