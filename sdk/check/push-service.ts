import { isDead } from '../common/subscription.ts';

/** The part of `navigator` that Brave adds. */
interface PageNavigator {
  readonly brave?: { isBrave(): Promise<boolean> };
}

/** @returns the push service of an endpoint in words, and what is known to prevent deliveries through it. */
export async function pushServiceText(
  endpoint: string,
  navigator: object,
): Promise<{ readonly text: string; readonly problem?: string }> {
  const { host } = new URL(endpoint);
  if (isDead({ endpoint })) {
    const problem = `The browser gave an address that does not exist (${host}). Subscribe on this site again; if this stays, update the browser, or use another.`;
    return { text: host, problem };
  }
  const [, text = host] = services.find(([pattern]) => pattern.test(host)) ?? [];
  const { brave } = navigator as PageNavigator;
  if (!(await brave?.isBrave())) return { text: `Messages come through ${text}.` };
  return {
    text: `Messages come through ${text}. Brave gets them only if “Use Google services for push messaging” is on, under Privacy and security in its settings.`,
  };
}

const services: readonly (readonly [host: RegExp, name: string])[] = [
  [
    /(^|\.)googleapis\.com$|^jmt17\.google\.com$/,
    'Google (FCM). On Android this needs Google Play services',
  ],
  [/\.push\.services\.mozilla\.com$/, 'Mozilla'],
  [/\.notify\.windows\.com$/, 'Microsoft (WNS)'],
  [/\.push\.apple\.com$/, 'Apple'],
];
