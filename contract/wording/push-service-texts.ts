/** The browsers of the push services that are known by name, for people. */
const browsers: Readonly<Record<string, string>> = {
  fcm: 'Chrome and others (Google)',
  jmt17: 'Chrome Beta, Dev and Canary (Google)',
  mozilla: 'Firefox',
  wns: 'Edge',
  apple: 'Safari',
  other: 'Others',
};

/** @param name as the API has it: of an extra push service, its origin. */
export function pushServiceText(name: string): string {
  return Object.hasOwn(browsers, name) ? browsers[name]! : name;
}
