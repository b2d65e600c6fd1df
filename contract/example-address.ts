/**
 * Whether an address is at a name that is reserved for examples and tests (RFC 2606 §2 and §3). Documents
 * have such addresses, and nobody can be reached there.
 * @param address an e-mail address, with or without `mailto:`, or a URL.
 */
export function isExampleAddress(address: string): boolean {
  const host = address.includes('@') ? address.split('@').at(-1)! : new URL(address).host;
  return /(^|\.)(example(\.(com|net|org))?|test|invalid|localhost)$/.test(host);
}
