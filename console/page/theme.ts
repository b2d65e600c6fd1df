import { type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'bronze',
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  colors: {
    bronze: [
      '#fdf5e7',
      '#f7e8cd',
      '#eed09d',
      '#e8bb6d',
      '#e5ac4d',
      '#c98a2b',
      '#a96d1b',
      '#80520f',
      '#66400a',
      '#4d2f05',
    ],
  },
  cursorType: 'pointer',
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: { transitionProps: { duration: 0 }, centered: true } },
    Table: { defaultProps: { verticalSpacing: 9, highlightOnHover: true } },
    Anchor: { defaultProps: { underline: 'always' } },
  },
});

/** Mantine's own colours of hints, errors and placeholders have too little contrast (WCAG 1.4.3). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-body': '#ffffff',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-bronze-4)',
  },
});
