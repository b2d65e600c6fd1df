import { countText } from '../../contract/text/text.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';

/**
 * A part of a whole in percent. Empty if it was not measured, if there is no whole, and if events of it were lost: a
 * rate is at most 100 %.
 */
export function rateText(part: number | null, whole: number): string {
  if (part === null || whole === 0 || part > whole) return '';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  // 99.96 % are not 100 %.
  const shown = percent > 99 && percent < 100 ? Math.floor(percent * 10) / 10 : percent;
  return `${shown.toLocaleString('en', { maximumFractionDigits: percent < 10 || percent > 99 ? 1 : 0 })} %`;
}

/**
 * About how many of all subscribers meet what some of a sample meet: as many digits as mean something, by the standard
 * error of a proportion. If the sample has all of them, it is exact.
 */
export function estimateText(found: number, sample: number, all: number): string {
  const part = found / sample;
  const error = sample < all ? all * Math.sqrt((part * (1 - part)) / sample) : 0;
  const unit = error > 1 ? 10 ** Math.floor(Math.log10(error)) : 1;
  return countText(unit * Math.round((part * all) / unit));
}

/** In place of counts that browsers were not asked for. */
export const notMeasured = 'Not measured';

type Shown = Pick<NotificationResult, 'delivered' | 'shown' | 'shownSample'>;

/**
 * The shown part of the delivered, as `rateText`: `about 12 %`, if only a sample of the browsers reported it. An estimate
 * may be above what it estimates.
 */
export function shownRate({ delivered, shown, shownSample }: Shown): string {
  if (shown === null || shownSample === undefined) return rateText(shown, delivered);
  const rate = rateText(Math.min(shown, delivered), delivered);
  return rate && `about ${rate}`;
}

const [short, long] = (['short', 'long'] as const).map(
  (timeStyle) => new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle }),
);

/** @param iso RFC 3339. @returns the time in the time zone of this browser. `long`: with the zone. */
export function timeText(iso: string, style: 'short' | 'long' = 'short'): string {
  return (style === 'long' ? long : short)!.format(new Date(iso));
}

const thisYear = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const anyYear = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** `Nov 3`, of another year `Nov 3, 2025`. @param iso RFC 3339. @returns the day in this browser's time zone. */
export function dateText(iso: string, nowMs: number): string {
  const date = new Date(iso);
  return (date.getFullYear() === new Date(nowMs).getFullYear() ? thisYear : anyYear).format(date);
}

export const dayMs = 24 * 60 * 60 * 1000;
const spans = [
  ['second', 1000, 60],
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 24],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { style: 'narrow' });

/** `40s ago`, `Yesterday`, `Nov 3`: on phones it has the room of nine characters. */
export function agoText(iso: string, nowMs: number): string {
  const agoMs = Math.max(0, nowMs - Date.parse(iso));
  if (agoMs < 1000) return 'Now';
  for (const [unit, unitMs, count] of spans) {
    if (agoMs < unitMs * count) return relative.format(-Math.floor(agoMs / unitMs), unit);
  }
  const isYesterday =
    dateText(iso, nowMs) === dateText(new Date(nowMs - dayMs).toISOString(), nowMs);
  return isYesterday ? 'Yesterday' : dateText(iso, nowMs);
}

/** @param month such as `2026-11`. @returns the first day after it. */
export function monthEndText(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Intl.DateTimeFormat('en', { month: 'long', day: 'numeric', timeZone: 'UTC' }).format(
    Date.UTC(year, number, 1),
  );
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
