import { Box, Flex, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { SendRequest } from '../../../contract/wire/notification.ts';
import type { Platform } from '../../../contract/wording/field-texts.ts';
import { timeText } from '../format.ts';
import { Choice, Hint } from '../view.tsx';
import { platformNames, platformTabs, shownOn } from './shown-on.ts';

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
      <Choice
        label="Platform"
        choices={platformTabs}
        value={platform}
        onChange={setPlatform}
        fullWidth
      />
      <NotificationPreview notification={notification} platform={platform} />
      <Hint>{[`About as ${platformNames[platform]} shows it.`, ...remarks].join(' ')}</Hint>
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
  const loadedUrl = useUnchanging(url);
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

/** While a URL is typed, each of its beginnings is a URL too: waits until it no longer changes. */
const unchangedMs = 700;

function useUnchanging(url: string | undefined): string | undefined {
  const [unchanged, setUnchanged] = useState<string>();
  useEffect(() => {
    const timeout = setTimeout(() => setUnchanged(url), unchangedMs);
    return () => clearTimeout(timeout);
  }, [url]);
  return unchanged;
}
