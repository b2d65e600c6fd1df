import { countText } from '../text/text.ts';
import type { PublicName, SettingName, SettingValue, settingFields } from '../wire/project.ts';

/** What people read about each setting of a project: in the command, the console and the API's description. */

interface Texts<Name extends SettingName> {
  /** The name of the setting, in the command and in the console. */
  readonly label: string;
  /** The option of the command that sets it, and what it does. */
  readonly option: readonly [name: string, description: string];
  /** Its value in words. */
  readonly text: (value: SettingValue<Name>) => string;
}

/** @param description Markdown, in the API's description. */
type PublicTexts<Name extends SettingName> = Texts<Name> & { readonly description: string };

type SettingTexts = {
  readonly [Name in keyof typeof settingFields]: Name extends PublicName
    ? PublicTexts<Name>
    : Texts<Name>;
};

/** `1,000`, or `none`. */
export function limitText(limit: number | null): string {
  return limit === null ? 'none' : countText(limit);
}

/** The value of a setting in words. */
export function settingText<Name extends SettingName>(
  name: Name,
  value: SettingValue<Name>,
): string {
  const { text } = settingTexts[name] as Texts<Name>;
  return text(value);
}

export const settingTexts: SettingTexts = {
  name: {
    label: 'Name',
    option: ['name', 'name that people see'],
    text: (name) => name,
    description: 'The project’s name for people.',
  },
  userIds: {
    label: 'User ids',
    option: ['user-ids', 'accept any user id, or only those with a signature'],
    text: (mode) => mode,
  },
  origins: {
    label: 'Origins',
    option: [
      'origins',
      'origins of the pages that may register and remove browsers, separated by commas; requests without an origin are accepted',
    ],
    text: (origins) => origins.join(' '),
  },
  subscriberCap: {
    label: 'Subscribers',
    option: ['subscriber-cap', 'most subscribers'],
    text: limitText,
  },
  monthlySendCap: {
    label: 'Notifications',
    option: ['send-cap', 'most notifications per UTC month'],
    text: limitText,
  },
  rateLimitPerMinute: {
    label: 'Requests per minute',
    option: [
      'rate-limit',
      'requests per minute of an address: N, none or default for all actions, or for some: track=600,send=none',
    ],
    text: limitText,
  },
  shownSample: {
    label: 'Shown is reported by',
    option: [
      'shown-sample',
      'of a broadcast to more than 100,000 subscribers, one browser in N reports that it was shown; 1: each',
    ],
    text: (sample) => (sample === 1 ? 'every browser' : `one browser in ${sample}`),
  },
  events: {
    label: 'Shown and clicked are',
    option: ['events', 'whether browsers report that a notification was shown or clicked'],
    text: (isOn) => (isOn ? 'reported' : 'not reported'),
  },
  oldWorker: {
    label: 'Old service worker',
    option: [
      'old-worker',
      'imported browsers may still have the service worker of this service: messages to them carry what it needs',
    ],
    text: ({ name, until }) =>
      `${name} until ${until.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`,
  },
};
