import { useEffect, useState } from 'react';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { type Platform, platformNames } from './platforms.ts';
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
        <div className="preview-notification">
          <p className="preview-site">
            {picture('badge')}
            {shown.site} · {timeOf(shown.timestamp)}
          </p>
          <div className="preview-content">
            <div className="preview-text" lang={lang} dir={dir}>
              <p className="preview-title">{shown.title || 'Title'}</p>
              {shown.body !== '' && <p className="preview-body">{shown.body}</p>}
            </div>
            {picture('icon')}
          </div>
          {picture('image')}
          {shown.buttons.length > 0 && (
            <ul className="preview-buttons" aria-label="Buttons" lang={lang} dir={dir}>
              {shown.buttons.map((text, index) => (
                <li key={index}>{text || `Button ${index + 1}`}</li>
              ))}
            </ul>
          )}
        </div>
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

/** @param timestamp a date-time with its offset. Undefined: the notification has just arrived. */
function timeOf(timestamp: string | undefined): string {
  if (timestamp === undefined) return 'now';
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
  return format.format(new Date(timestamp));
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
