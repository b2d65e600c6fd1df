/** Lines in a square of 16 by 16. */
const paths = {
  overview: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  notifications: 'M3.5 12V7a4.5 4.5 0 0 1 9 0v5M2 12h12M6.5 14.5h3',
  audience:
    'M3.5 5.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.5 2.5 1.8 2.5 3.7',
  settings:
    'M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M8.2 4.5a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 0 0-3.6 0M4.2 11.5a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 0 0-3.6 0',
  local:
    'M3 2.5h10A1.5 1.5 0 0 1 14.5 4v6a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 10V4A1.5 1.5 0 0 1 3 2.5zM5.5 14h5',
  send: 'M2 8.5 14 2.5l-4.5 11-2.5-4.5z',
  plus: 'M8 3v10M3 8h10',
  tick: 'm3 8.5 3.5 3.5L13 4.5',
  exclamation: 'M8 3.5v6M8 12.5v.1',
  cross: 'm4 4 8 8M12 4l-8 8',
  dash: 'M3.5 8h9',
  square: 'M4.5 4.5h7v7h-7z',
  ring: 'M8 2.5A5.5 5.5 0 1 0 13.5 8',
  brokenRing: 'M10.5 3.1A5.5 5.5 0 0 0 3.1 10.5M5.5 12.9a5.5 5.5 0 0 0 7.4-7.4',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.8v3M8 11.8v.1',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  copy: 'M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5zM10.5 5.5v-3h-8v8h3',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  eye: 'M1.5 8c1.5-3 4-4.5 6.5-4.5s5 1.5 6.5 4.5c-1.5 3-4 4.5-6.5 4.5S3 11 1.5 8zM6 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0',
} as const;

export type IconName = keyof typeof paths;

/** A picture beside a text that says the same. @param size in pixels. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const strokeWidth = size < 16 || name === 'more' ? 2.2 : 1.6;
  return (
    <svg
      data-icon={name}
      width={`${size / 16}rem`}
      height={`${size / 16}rem`}
      viewBox="0 0 16 16"
      aria-hidden
      data-reduce-motion
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={strokeWidth}
      style={{ display: 'block', flex: 'none' }}
    >
      <path d={paths[name]} />
    </svg>
  );
}

const svg = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><title>A bell</title><rect width="64" height="64" rx="15" fill="#8a5a16"/><path d="M32 11a4 4 0 0 0-4 4v1.6C20.9 18.4 17 24.6 17 32v9l-4 6v2h38v-2l-4-6v-9c0-7.4-3.9-13.6-11-15.4V15a4 4 0 0 0-4-4z" fill="#ffdf9e"/><path d="M26 51a6 6 0 0 0 12 0z" fill="#f0b64c"/></svg>`,
);

/** The picture of Carillon, as data: the page's policy has no other images than those of https addresses. */
export const bell = `data:image/svg+xml,${svg}`;
