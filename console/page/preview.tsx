import { Box, Flex, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { pathOf } from '../../contract/text/addresses.ts';
import { webUrl } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import { pushMessage } from '../../contract/wire/message.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type ContentName, contentFields, contentOf } from '../../contract/wire/send-fields.ts';
import { type FieldText, fieldTexts, type Platform } from '../../contract/wording/field-texts.ts';
import { timeText } from './format.ts';
import { Choice, Hint } from './view.tsx';

interface PreviewProps {
  /** The notification, as far as it is written. */
  readonly notification: SendRequest;
}

/** About how a notification looks on the platforms, one at a time, and what one does not show of it. */
export function PlatformPreview({ notification }: PreviewProps) {
  const [platform, setPlatform] = useState<Platform>('chrome');
  const { remarks } = shownOn(platform, notification);
  return (
    <Stack gap={10}>
      <Choice label="Platform" choices={tabs} value={platform} onChange={setPlatform} fullWidth />
      <NotificationPreview notification={notification} platform={platform} />
      <Hint>{[`About as ${looks[platform].name} shows it.`, ...remarks].join(' ')}</Hint>
    </Stack>
  );
}

interface NotificationPreviewProps extends PreviewProps {
  readonly platform?: Platform;
  /** Whether all of its texts are shown, also what the platform cuts off. */
  readonly isWhole?: boolean;
}

/** About how a notification looks on a platform. */
export function NotificationPreview({
  notification,
  platform = 'chrome',
  isWhole = false,
}: NotificationPreviewProps) {
  const { lang, dir = 'auto' } = notification;
  const shown = shownOn(platform, notification);
  // What somebody else has written loads nothing from elsewhere.
  const { title, body } = isWhole ? { body: '', ...notification } : shown;
  const [failedUrls, setFailedUrls] = useState<ReadonlySet<string>>(new Set());
  const failed = pictureNames.filter((name) => failedUrls.has(shown[name] ?? ''));
  const picture = (name: PictureName) =>
    !isWhole && (
      <Picture
        name={name}
        url={shown[name]}
        hasFailed={failed.includes(name)}
        onError={(url) => setFailedUrls((urls) => new Set(urls).add(url))}
      />
    );
  return (
    <Box
      component="figure"
      p="28px 16px"
      bg={stage}
      aria-label="Preview"
      data-platform={platform}
      style={round(12)}
    >
      <Box
        className="preview"
        maw={360}
        mx="auto"
        p="12px 14px"
        bg="var(--toast)"
        style={round(platform === 'android' ? 24 : 12)}
      >
        <Text fz="xs" c="dimmed" truncate mb={6}>
          {picture('badge')}
          {shown.site} · {shown.timestamp === undefined ? 'now' : timeText(shown.timestamp)}
        </Text>
        <Flex
          gap="sm"
          direction={platform === 'chrome' || platform === 'firefox' ? 'row-reverse' : 'row'}
        >
          <Box flex={1} miw={0} lang={lang} dir={dir}>
            <Text className="preview-title" fw={600}>
              {title || 'Title'}
            </Text>
            <Text className="preview-body" fz="hint" style={{ whiteSpace: 'pre-line' }}>
              {body}
            </Text>
          </Box>
          {picture('icon')}
        </Flex>
        {picture('image')}
        {shown.buttons.length > 0 && (
          <Flex component="ul" gap="xs" mt={10} aria-label="Buttons" lang={lang} dir={dir}>
            {shown.buttons.map((text, index) => (
              <Text
                key={index}
                component="li"
                flex={1}
                p={5}
                ta="center"
                fz="hint"
                fw={500}
                bg="var(--selected)"
                style={round(7)}
              >
                {text || `Button ${index + 1}`}
              </Text>
            ))}
          </Flex>
        )}
      </Box>
      {failed.length > 0 && (
        <Text component="figcaption" fz="hint" mt="xs">
          This page could not load {failed.map((name) => `the ${name}`).join(' and ')}. Check its
          URL.
        </Text>
      )}
    </Box>
  );
}

const stage =
  'radial-gradient(120% 90% at 0 0, var(--glow-1), transparent 60%), radial-gradient(110% 120% at 100% 100%, var(--glow-2), transparent 62%), var(--stage)';
const round = (borderRadius: number) => ({ borderRadius });

const pictureNames = ['icon', 'image', 'badge'] as const;
type PictureName = (typeof pictureNames)[number];

interface PictureProps {
  readonly name: PictureName;
  readonly url: string | undefined;
  readonly hasFailed: boolean;
  readonly onError: (url: string) => void;
}

/** The picture behind the URL, or an empty frame if it cannot be loaded. */
function Picture({ name, url, hasFailed, onError }: PictureProps) {
  // While a URL is typed, each of its beginnings is a URL too: waits until it no longer changes.
  const [loadedUrl] = useDebouncedValue(url, 700);
  if (url === undefined) return null;
  const alt = `The ${name}`;
  const look = { className: `preview-${name}`, style: pictureStyles[name] };
  // The policy of the page allows only https.
  if (hasFailed || loadedUrl !== url || !url.startsWith('https:')) {
    return (
      <Box
        component="span"
        bd="1px dashed"
        display="inline-block"
        role="img"
        aria-label={`${alt}, not loaded`}
        {...look}
      />
    );
  }
  // Another site's server need not learn where the console runs.
  return (
    <img src={url} alt={alt} referrerPolicy="no-referrer" onError={() => onError(url)} {...look} />
  );
}

const pictureStyles = {
  icon: { flex: 'none', width: 44, height: 44, borderRadius: 10, objectFit: 'contain' },
  image: { width: '100%', aspectRatio: 2, marginTop: 10, objectFit: 'cover' },
  // Android keeps only the transparency.
  badge: {
    width: 16,
    height: 16,
    marginInlineEnd: 6,
    verticalAlign: 'text-bottom',
    filter: 'grayscale(1) contrast(0)',
  },
} as const;

/** How a platform looks, and after how many characters it cuts a text off. */
interface Look {
  /** Short enough for one row on a phone. */
  readonly tab: string;
  readonly name: string;
  readonly title: number;
  readonly body: number;
  /** Default: `body`. */
  readonly bodyWithImage?: number;
}

/**
 * About the fewest characters that senders report. None is documented, and all depend on the device and the width of
 * the letters.
 */
const looks: Readonly<Record<Platform, Look>> = {
  chrome: { tab: 'Chrome', name: 'Chrome on Windows', title: 64, body: 120 },
  firefox: { tab: 'Firefox', name: 'Firefox on Windows', title: 50, body: 200 },
  macos: { tab: 'Safari', name: 'Safari on macOS', title: 35, body: 100 },
  // With an image, one line.
  android: { tab: 'Android', name: 'Chrome on Android', title: 40, body: 240, bodyWithImage: 60 },
};
const buttonLength = 19;

export const platforms = Object.keys(looks) as readonly Platform[];
const tabs = Object.fromEntries(platforms.map((one) => [one, looks[one].tab])) as Record<
  Platform,
  string
>;

/**
 * What a platform shows of a notification.
 * @param notification as far as it is written: fields may still be invalid.
 */
export function shownOn(platform: Platform, notification: SendRequest) {
  const look = looks[platform];
  const given = (Object.keys(contentFields) as ContentName[]).filter((name) =>
    isUsed(notification, name),
  );
  const remarks = given.flatMap((name) => remarkOn(platform, name) ?? []);
  const shown = given.filter((name) => !('ignored' in (remarkOn(platform, name) ?? {})));
  const used = <Name extends ContentName>(name: Name): SendRequest[Name] | undefined =>
    shown.includes(name) ? notification[name] : undefined;

  const bodyLength = (given.includes('image') && look.bodyWithImage) || look.body;
  const title = cut('The title is', notification.title, look.title);
  const body = cut('The body is', notification.body ?? '', bodyLength);
  const buttons = (used('actions') ?? [])
    .slice(0, limits.actions)
    .map((action) => cut('Buttons are', action.title, buttonLength));
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
    remarks: [
      ...remarks.flatMap((remark) => ('ignored' in remark ? [remark.ignored] : [])),
      ...new Set([title, body, ...buttons].flatMap(({ remark = [] }) => remark)),
      ...remarks.flatMap((remark) => ('shown' in remark ? [remark.shown] : [])),
    ],
  };
}

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
function cut(what: string, text: string, length: number): { text: string; remark?: string } {
  const characters = Array.from(segmenter.segment(text), ({ segment }) => segment);
  if (characters.length <= length) return { text };
  const start = characters.slice(0, length - 1).join('');
  return {
    text: `${start.trimEnd()}…`,
    remark: `${what} cut off after about ${length} characters.`,
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
