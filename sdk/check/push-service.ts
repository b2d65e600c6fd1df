import { isDead } from '../common/subscription.ts';
import { type CheckTexts, fill } from './texts.ts';

/** The part of `navigator` that Brave adds. */
interface PageNavigator {
  readonly brave?: { isBrave(): Promise<boolean> };
}

/** @returns the push service of an endpoint in words, and what is known to prevent deliveries through it. */
export async function pushServiceText(
  endpoint: string,
  navigator: object,
  texts: CheckTexts,
): Promise<{ readonly text: string; readonly problem?: string }> {
  const { host } = new URL(endpoint);
  if (isDead({ endpoint })) {
    return { text: host, problem: fill(texts.deadEndpoint, { service: host }) };
  }
  const [, service = host] = services.find(([pattern]) => pattern.test(host)) ?? [];
  const text = google.test(host) ? texts.pushServiceGoogle : fill(texts.pushService, { service });
  const { brave } = navigator as PageNavigator;
  return { text: (await brave?.isBrave()) ? `${text} ${texts.brave}` : text };
}

const google = /(^|\.)googleapis\.com$|^jmt17\.google\.com$/;

const services: readonly (readonly [host: RegExp, name: string])[] = [
  [/\.push\.services\.mozilla\.com$/, 'Mozilla'],
  [/\.notify\.windows\.com$/, 'Microsoft (WNS)'],
  [/\.push\.apple\.com$/, 'Apple'],
];
