import { Box, Flex, Stack, Text } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
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
  readonly platform?: Platform;
  /** Whether it is about to be sent. Of one that was sent, nothing is loaded from elsewhere: somebody else wrote it. */
  readonly isNow?: boolean;
}

/** About how a notification looks on the platforms, one at a time, and what one does not show of it. */
export function PlatformPreview({ notification }: { readonly notification: SendRequest }) {
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

/** About how a notification looks on a platform. */
export function NotificationPreview({ notification, platform = 'desktop', isNow }: PreviewProps) {
  const { title, body, lang, dir = 'auto' } = notification;
  const shown = shownOn(platform, notification);
  const time = shown.timestamp === undefined ? isNow && 'now' : timeText(shown.timestamp);
  const picture = (name: keyof typeof pictureStyles) =>
    isNow && <Picture key={shown[name]} name={name} url={shown[name]} />;
  return (
    <figure aria-label="Preview" data-platform={platform} style={stage}>
      <div style={{ ...toast, borderRadius: platform === 'desktop' ? 12 : 24 }}>
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
              <Text key={index} component="li" ta="center" fz="hint" fw={500} style={button}>
                {text || `Button ${index + 1}`}
              </Text>
            ))}
          </Flex>
        )}
      </div>
    </figure>
  );
}

const stage = {
  padding: '28px 16px',
  borderRadius: 12,
  background:
    'radial-gradient(120% 90% at 0 0, var(--glow-1), transparent 60%), radial-gradient(110% 120% at 100% 100%, var(--glow-2), transparent 62%), var(--stage)',
};
const toast = { maxWidth: 360, margin: 'auto', padding: '12px 14px', background: 'var(--toast)' };
const button = { flex: 1, padding: 5, borderRadius: 7, background: 'var(--selected)' };

/** The picture behind the URL, or what is in its place until it is loaded, and if it cannot be. */
function Picture({ name, url }: { name: keyof typeof pictureStyles; url: string | undefined }) {
  const [hasFailed, setFailed] = useState(false);
  // While a URL is typed, each of its beginnings is a URL too: waits until it no longer changes.
  const [isTyped, setTyped] = useState(false);
  useTimeout(() => setTyped(true), 700, { autoInvoke: true });
  if (url === undefined) return null;
  if (hasFailed) return <Hint>The {name} cannot be loaded.</Hint>;
  const look = { className: `preview-${name}`, style: pictureStyles[name] };
  const label = { role: 'img', 'aria-label': `The ${name}` };
  // The policy of the page allows only https.
  if (!isTyped || !url.startsWith('https:')) {
    return <Box component="span" bd="1px dashed" display="inline-block" {...label} {...look} />;
  }
  // Another site's server need not learn where the console runs.
  return (
    <img
      src={url}
      alt=""
      referrerPolicy="no-referrer"
      onError={() => setFailed(true)}
      {...label}
      {...look}
    />
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
const tabs = { desktop: 'Computer', android: 'Android', iphone: 'iPhone' } as const;
const names: Readonly<Record<Platform, string>> = {
  desktop: 'Chrome on Windows',
  android: 'Chrome on Android',
  iphone: 'an iPhone with your site on its Home Screen',
};

/**
 * What a platform shows of a notification.
 * @param notification as far as it is written: fields may still be invalid.
 */
export function shownOn(platform: Platform, notification: SendRequest) {
  const given = (Object.keys(contentFields) as ContentName[]).filter((name) =>
    isUsed(notification, name),
  );
  const remarkOn = (name: ContentName) => (fieldTexts[name] as FieldText).preview?.[platform];
  const used = <Name extends ContentName>(name: Name): SendRequest[Name] | undefined =>
    given.includes(name) && !remarkOn(name)?.ignored ? notification[name] : undefined;
  return {
    /** Whose notification it is: of the URL, where people have subscribed. The notification does not name it. */
    site: isUsed(notification, 'url') ? new URL(notification.url!).host : 'Your site',
    icon: used('icon'),
    image: used('image'),
    badge: used('badge'),
    /** Their texts. */
    buttons: (used('actions') ?? []).slice(0, limits.actions).map(({ title }) => title),
    /** A date-time, as it was sent. Undefined: the time of the arrival. */
    timestamp: used('timestamp'),
    /** Sentences: first what is not shown, then what else the platform does with it. */
    remarks: [
      ...given.flatMap((name) => remarkOn(name)?.ignored ?? []),
      ...given.flatMap((name) => remarkOn(name)?.shown ?? []),
    ],
  };
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

/** Any notification's id is as long. */
const notificationId = '00000000-0000-0000-0000-000000000000';

/** About as many bytes as the message of a notification has. */
export function messageBytes(notification: SendRequest, projectId: string): number {
  const eventsUrl = `${location.origin}${pathOf(routes.track, { projectId, notificationId })}`;
  const message = JSON.stringify(pushMessage(notificationId, contentOf(notification), eventsUrl));
  return new TextEncoder().encode(message).length;
}
