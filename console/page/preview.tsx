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
  const [platform, setPlatform] = useState<Platform>('desktop');
  const { remarks } = shownOn(platform, notification);
  return (
    <Stack gap={10}>
      <Choice label="Platform" choices={tabs} value={platform} onChange={setPlatform} fullWidth />
      <NotificationPreview notification={notification} platform={platform} isNow />
      <Hint>
        {[`About as ${names[platform]} shows it; long texts are cut off.`, ...remarks].join(' ')}
      </Hint>
    </Stack>
  );
}

interface NotificationPreviewProps extends PreviewProps {
  readonly platform?: Platform;
  /** Whether it is about to be sent. Of one that was sent, nothing is loaded from elsewhere: somebody else wrote it. */
  readonly isNow?: boolean;
}

/** About how a notification looks on a platform. */
export function NotificationPreview({
  notification,
  platform = 'desktop',
  isNow = false,
}: NotificationPreviewProps) {
  const { title, body, lang, dir = 'auto' } = notification;
  const shown = shownOn(platform, notification);
  const time = shown.timestamp === undefined ? isNow && 'now' : timeText(shown.timestamp);
  const [failedUrls, setFailedUrls] = useState<ReadonlySet<string>>(new Set());
  const failed = pictureNames.filter((name) => failedUrls.has(shown[name] ?? ''));
  const picture = (name: PictureName) =>
    isNow && (
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
        style={round(platform === 'desktop' ? 12 : 24)}
      >
        <Text fz="xs" c="dimmed" truncate mb={6}>
          {picture('badge')}
          {[shown.site, ...(time ? [time] : [])].join(' · ')}
        </Text>
        <Flex gap="sm" direction={platform === 'desktop' ? 'row-reverse' : 'row'}>
          {platform === 'iphone' && (
            <Box component="span" bg="var(--selected)" style={pictureStyles.icon} />
          )}
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

/** Short enough for one row on a phone. */
const tabs: Readonly<Record<Platform, string>> = {
  desktop: 'Computer',
  android: 'Android',
  iphone: 'iPhone',
};
const names: Readonly<Record<Platform, string>> = {
  desktop: 'Chrome on Windows',
  android: 'Chrome on Android',
  iphone: 'an iPhone with your site on its Home Screen',
};
export const platforms = Object.keys(tabs) as readonly Platform[];

/**
 * What a platform shows of a notification.
 * @param notification as far as it is written: fields may still be invalid.
 */
export function shownOn(platform: Platform, notification: SendRequest) {
  const given = (Object.keys(contentFields) as ContentName[]).filter((name) =>
    isUsed(notification, name),
  );
  const remarks = given.flatMap((name) => remarkOn(platform, name) ?? []);
  const shown = given.filter((name) => !('ignored' in (remarkOn(platform, name) ?? {})));
  const used = <Name extends ContentName>(name: Name): SendRequest[Name] | undefined =>
    shown.includes(name) ? notification[name] : undefined;

  return {
    /** Whose notification it is. */
    site: siteOf(notification),
    icon: used('icon'),
    image: used('image'),
    badge: used('badge'),
    /** Their texts. */
    buttons: (used('actions') ?? []).slice(0, limits.actions).map(({ title }) => title),
    /** A date-time, as it was sent. Undefined: the time of the arrival. */
    timestamp: used('timestamp'),
    /** Sentences: first what is not shown, then what else the platform does with it. */
    remarks: [
      ...remarks.flatMap((remark) => ('ignored' in remark ? [remark.ignored] : [])),
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
  return webUrl.safeParse(url).success ? new URL(url!).host : 'Your site';
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
