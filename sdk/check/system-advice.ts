/** Where each system hides notifications, by a part of the browser's user agent. The order matters. */
const advice: readonly (readonly [part: RegExp, text: string])[] = [
  [
    /Android/,
    'open the settings of the phone, then Apps, this browser, Notifications, and allow them; turn off Do Not Disturb, and battery saving for the browser.',
  ],
  [
    /iPhone|iPad/,
    'open the Settings app, then Notifications, and allow this site; turn off Focus.',
  ],
  [/Mac OS X/, 'open System Settings, then Notifications, and allow the browser; turn off Focus.'],
  [
    /Windows/,
    'open Settings, then System, Notifications, and allow the browser; turn off Do not disturb.',
  ],
];

/** What a person can look at when the browser shows a notification and the system hides it. */
export function systemAdvice(userAgent: string): string {
  const [
    ,
    text = 'allow the browser in the notification settings of the system, and turn off Do Not Disturb.',
  ] = advice.find(([part]) => part.test(userAgent)) ?? [];
  return text;
}
