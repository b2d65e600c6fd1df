import type { CheckTexts } from './texts.ts';

/** The text about each system, by a part of the browser's user agent. The order matters. */
const systems = [
  [/Android/, 'android'],
  [/iPhone|iPad/, 'ios'],
  [/Mac OS X/, 'macos'],
  [/Windows/, 'windows'],
] as const;

/** What a person can look at when the browser shows a notification and the system hides it. */
export function systemAdvice(userAgent: string, texts: CheckTexts): string {
  const [, name = 'otherSystem'] = systems.find(([part]) => part.test(userAgent)) ?? [];
  return texts[name];
}
