import { agoText, timeText } from '../format.ts';

/** How long ago it was; the exact time on hover. @param at RFC 3339. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={timeText(at)}>
      {agoText(at, Date.now())}
    </time>
  );
}
