/** A part of a whole in percent; empty if the whole is 0. */
export function rateText(part: number, whole: number): string {
  if (whole === 0) return '';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  // 99.96 % are not 100 %.
  const shown = percent > 99 && percent < 100 ? Math.floor(percent * 10) / 10 : percent;
  return `${shown.toLocaleString('en', { maximumFractionDigits: percent < 10 || percent > 99 ? 1 : 0 })} %`;
}

const dateTime = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** @param iso RFC 3339. @returns the time in the time zone of this browser. */
export function timeText(iso: string): string {
  return dateTime.format(new Date(iso));
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const spans = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
] as const;

/** `3h ago`. @param iso RFC 3339. */
export function agoText(iso: string, nowMs: number): string {
  let ago = Math.max(0, nowMs - Date.parse(iso)) / 1000;
  for (const [unit, length] of spans) {
    if (ago < length) return relative.format(-Math.floor(ago), unit);
    ago /= length;
  }
  return dateText(iso);
}

const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** @param iso RFC 3339. @returns the day in the time zone of this browser. */
export function dateText(iso: string): string {
  return date.format(new Date(iso));
}

/** @param month such as `2026-11`. */
export function monthText(month: string): string {
  return new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  );
}
