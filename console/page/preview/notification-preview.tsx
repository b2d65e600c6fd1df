import { Group, Paper, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Platform } from '../../../contract/openapi/field-texts.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { timeText } from '../format.ts';
import { platformNames } from './platforms.ts';
import { shownOn } from './shown-on.ts';

interface NotificationPreviewProps {
  /** As far as it is written. */
  readonly notification: SendRequest;
  readonly platform: Platform;
}

/** About how a notification looks on a platform, and what the platform does not show of it. */
export function NotificationPreview({ notification, platform }: NotificationPreviewProps) {
  const { lang, dir = 'auto' } = notification;
  const shown = shownOn(platform, notification);
  const [failedUrls, setFailedUrls] = useState<ReadonlySet<string>>(new Set());
  const picture = (name: PictureName) => (
    <Picture
      name={name}
      url={shown[name]}
      hasFailed={failedUrls.has(shown[name] ?? '')}
      onError={(url) => setFailedUrls((urls) => new Set(urls).add(url))}
    />
  );
  const remarks = [
    ...(['icon', 'image', 'badge'] as const)
      .filter((name) => failedUrls.has(shown[name] ?? ''))
      .map((name) => `This page could not load the ${name}. Check its URL.`),
    ...shown.remarks,
  ];
  return (
    <>
      <figure className="preview" data-platform={platform}>
        <figcaption>{platformNames[platform]}</figcaption>
        <Paper className="preview-notification" withBorder p="sm" mt={6} maw={370} fz="sm">
          <Text className="preview-site">
            {picture('badge')}
            {shown.site} · {shown.timestamp === undefined ? 'now' : timeText(shown.timestamp)}
          </Text>
          <Group className="preview-content" wrap="nowrap" align="start" gap="sm">
            <div className="preview-text" lang={lang} dir={dir}>
              <Text className="preview-title" fz="sm" fw={600}>
                {shown.title || 'Title'}
              </Text>
              {shown.body !== '' && (
                <Text className="preview-body" fz="sm">
                  {shown.body}
                </Text>
              )}
            </div>
            {picture('icon')}
          </Group>
          {picture('image')}
          {shown.buttons.length > 0 && (
            <Group gap="md" mt="sm" aria-label="Buttons" role="group" lang={lang} dir={dir}>
              {shown.buttons.map((text, index) => (
                <Text key={index} fz="sm" fw={600} className="preview-button">
                  {text || `Button ${index + 1}`}
                </Text>
              ))}
            </Group>
          )}
        </Paper>
      </figure>
      <ul className="preview-remarks">
        {remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
        <li>Lengths and layout differ a little between devices.</li>
      </ul>
    </>
  );
}

type PictureName = 'icon' | 'image' | 'badge';

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
  // The policy of the page allows only https.
  if (hasFailed || loadedUrl !== url || !url.startsWith('https:')) {
    return <span className={`preview-${name}`} role="img" aria-label={`${alt}, not loaded`} />;
  }
  return (
    <img
      className={`preview-${name}`}
      src={url}
      alt={alt}
      // Another site's server need not learn where the console runs.
      referrerPolicy="no-referrer"
      onError={() => onError(url)}
    />
  );
}

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
