import { pathOf } from '../../../contract/text/addresses.ts';
import { webUrl } from '../../../contract/wire/fields.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { pushMessage } from '../../../contract/wire/message.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';
import { routes } from '../../../contract/wire/routes.ts';
import { type ContentName, contentFields, contentOf } from '../../../contract/wire/send-fields.ts';
import {
  type FieldText,
  fieldTexts,
  type Platform,
} from '../../../contract/wording/field-texts.ts';

export const platformNames: Readonly<Record<Platform, string>> = {
  chrome: 'Chrome on Windows',
  firefox: 'Firefox on Windows',
  macos: 'Safari on macOS',
  android: 'Chrome on Android',
};

/** Short enough for one row on a phone. */
export const platformTabs: Readonly<Record<Platform, string>> = {
  chrome: 'Chrome',
  firefox: 'Firefox',
  macos: 'Safari',
  android: 'Android',
};

/**
 * Characters until a platform cuts a text off: about the fewest that senders report. None is documented, and all depend
 * on the device and the width of the letters.
 */
interface PlatformLengths {
  readonly title: number;
  readonly body: number;
  /** Lines of the body if there is an image. Default: as without an image. */
  readonly bodyWithImage?: number;
  readonly button: number;
}

const platformLengths: Readonly<Record<Platform, PlatformLengths>> = {
  chrome: { title: 64, body: 120, button: 19 },
  firefox: { title: 50, body: 200, button: 19 },
  macos: { title: 35, body: 100, button: 19 },
  // With an image, one line.
  android: { title: 40, body: 240, bodyWithImage: 60, button: 19 },
};

/**
 * What a platform shows of a notification.
 * @param notification as far as it is written: fields may still be invalid.
 */
export function shownOn(platform: Platform, notification: SendRequest) {
  const lengths = platformLengths[platform];
  const bodyLength = (isUsed(notification, 'image') && lengths.bodyWithImage) || lengths.body;
  const remarks = contentNames
    .filter((name) => isUsed(notification, name))
    .flatMap((name) => remarkOn(platform, name) ?? []);
  const ignored = remarks.flatMap((remark) => ('ignored' in remark ? [remark.ignored] : []));
  const shown = remarks.flatMap((remark) => ('shown' in remark ? [remark.shown] : []));
  const used = <Name extends ContentName>(name: Name): SendRequest[Name] | undefined => {
    const isIgnored = 'ignored' in (remarkOn(platform, name) ?? {});
    return isIgnored || !isUsed(notification, name) ? undefined : notification[name];
  };

  const title = cut(notification.title, lengths.title);
  const body = cut(notification.body ?? '', bodyLength);
  const buttons = (used('actions') ?? [])
    .slice(0, limits.actions)
    .map((action) => cut(action.title, lengths.button));
  const cutOff = [
    title.isCut && `The title is cut off after about ${lengths.title} characters.`,
    body.isCut && `The body is cut off after about ${bodyLength} characters.`,
    buttons.some(({ isCut }) => isCut) &&
      `Buttons are cut off after about ${lengths.button} characters.`,
  ].filter((sentence) => sentence !== false);

  return {
    title: title.text,
    body: body.text,
    /** Whose notification it is. */
    site: siteOf(notification),
    icon: used('icon'),
    image: used('image'),
    badge: used('badge'),
    /** Their texts. */
    buttons: buttons.map(({ text }) => text),
    /** A date-time, as it was sent. Undefined: the time of the arrival. */
    timestamp: used('timestamp'),
    /** Sentences: first what is not shown or is cut off, then what else the platform does with it. */
    remarks: [...ignored, ...cutOff, ...shown],
  };
}

const contentNames = Object.keys(contentFields) as readonly ContentName[];

function remarkOn(platform: Platform, name: ContentName) {
  const text: FieldText = fieldTexts[name];
  return text.preview?.[platform];
}

/** Whether the notification has the field, with a value that can have an effect. */
function isUsed(notification: SendRequest, name: ContentName): boolean {
  const value = notification[name];
  switch (contentFields[name].kind) {
    case 'url':
      return webUrl.safeParse(value).success;
    case 'list':
      return Array.isArray(value) && value.length > 0;
    case 'time':
      return !Number.isNaN(Date.parse(String(value)));
    default:
      return value !== undefined && value !== false;
  }
}

/** The site of the URL, where people have subscribed: the notification itself does not name it. */
function siteOf({ url }: SendRequest): string {
  return webUrl.safeParse(url).success ? new URL(url!).host : 'your-site.example';
}

const segmenter = new Intl.Segmenter();

/** Cuts text between characters as people see them: an emoji of several code points is one. */
function cut(text: string, length: number): { readonly text: string; readonly isCut: boolean } {
  const characters = Array.from(segmenter.segment(text), ({ segment }) => segment);
  const isCut = characters.length > length;
  return {
    text: isCut
      ? `${characters
          .slice(0, length - 1)
          .join('')
          .trimEnd()}…`
      : text,
    isCut,
  };
}

/** Any notification's id is as long. */
const notificationId = '00000000-0000-0000-0000-000000000000';

/** About as many bytes as the message of a notification has. @param baseUrl address of the service. */
export function messageBytes(
  notification: SendRequest,
  baseUrl: string,
  projectId: string,
): number {
  const eventsUrl = `${baseUrl}${pathOf(routes.track, { projectId, notificationId })}`;
  const message = JSON.stringify(pushMessage(notificationId, contentOf(notification), eventsUrl));
  return new TextEncoder().encode(message).length;
}
