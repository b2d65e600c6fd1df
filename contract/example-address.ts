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
