import {
  ActionIcon,
  Alert,
  Anchor,
  Badge,
  Button,
  Chip,
  type CSSVariablesResolver,
  createTheme,
  Input,
  type MantineColorsTuple,
  NativeSelect,
  Paper,
  Textarea,
  TextInput,
} from '@mantine/core';
import { createElement } from 'react';
import { Icon } from './icons.tsx';

const shades = (colors: string) => colors.split(' ') as unknown as MantineColorsTuple;
const ofOneShade = (color: string) => shades(Array(10).fill(color).join(' '));

/** Colours of a text and of its tint: light, dark. */
const tones = {
  good: ['#17643a #7fdca6', '#e6f4ea #15301f'],
  warning: ['#854400 #f3c06a', '#fdf0d9 #38280d'],
  bad: ['#b3261e #ffa69c', '#fdecea #401a16'],
  info: ['#1e4fbf #a5c1ff', '#e7eefc #1a2a52'],
  neutral: ['#57534e #c9c2b8', '#f1eeea #2c2a26'],
} as const;

/** Besides the shades of the theme: light, dark. */
const tokens: Readonly<Record<string, string>> = {
  '--subtle': '#faf9f7 #1b1a18',
  '--selected': '#eeebe5 #2a2824',
  '--line': '#e8e5df #322f2b',
  '--control': '#8b857c #7d766d',
  '--faint': '#6b665f #9d968c',
  '--on-ink': '#ffffff #1c1917',
  '--ink-hover': '#3a3531 #d8d4cc',
  '--accent': '#b4690e #e3a345',
  '--accent-2': '#bd7f2a #c08a3a',
  '--deep': '#7a4306 #ffe0a8',
  '--base': '#d9d3c9 #4a463f',
  '--gone': '#8b857c #8a8378',
  '--bad-fill': '#d0433a #e0665c',
  '--toast': '#fffffff2 #312e2af7',
  '--stage': '#ece4d8 #2b2824',
  '--glow-1': '#f6d9a8 #5b3f16',
  '--glow-2': '#b9c7dc #22324a',
  '--mantine-color-text': '#1c1917 #f3f1ed',
  '--mantine-color-body': '#ffffff #141311',
  '--mantine-color-default': '#ffffff #191816',
  '--mantine-color-default-hover': '#f4f2ee #262421',
  '--mantine-color-default-color': '#1c1917 #f3f1ed',
  '--mantine-color-default-border': '#d6d2ca #45413b',
  '--mantine-color-dimmed': '#57534e #b8b2a8',
  '--mantine-color-placeholder': '#6b665f #9d968c',
  '--mantine-color-disabled': '#f4f2ee #262421',
  '--mantine-color-disabled-color': '#6b665f #9d968c',
  '--mantine-color-anchor': '#8a4b08 #f0bb68',
  '--mantine-color-error': '#b3261e #ffa69c',
  ...Object.fromEntries(
    Object.entries(tones).flatMap(([tone, [text, tint]]) => [
      [`--mantine-color-${tone}-light-color`, text],
      [`--mantine-color-${tone}-light`, tint],
    ]),
  ),
};

/** Most fields are ids and addresses, no words of a language. */
const fieldProps = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

/** The ink pair. Only what destroys has a colour. */
const ink = {
  '--button-bg': 'var(--mantine-color-text)',
  '--button-hover': 'var(--ink-hover)',
  '--button-color': 'var(--on-ink)',
};

export const theme = createTheme({
  primaryColor: 'bronze',
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  colors: {
    gray: shades('#faf9f7 #f4f2ee #e8e5df #e8e5df #8b857c #8b857c #6b665f #57534e #3a3531 #1c1917'),
    dark: shades('#f3f1ed #b8b2a8 #9d968c #7d766d #322f2b #262421 #191816 #141311 #1b1a18 #0d0c0b'),
    bronze: shades(
      '#fdf5e7 #f7e8cd #f3ddb8 #f0bb68 #e3a345 #c08a3a #bd7f2a #b4690e #8a4b08 #7a4306',
    ),
    ...Object.fromEntries(Object.keys(tones).map((tone) => [tone, ofOneShade('#57534e')])),
    /** Colour of buttons: 5.7:1 with its text. */
    danger: ofOneShade('#c5281c'),
  },
  cursorType: 'pointer',
  radius: { lg: '12px' },
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  fontSizes: { md: '0.875rem', lg: '0.9375rem', hint: '0.8125rem', figure: '1.625rem' },
  fontWeights: { medium: '500', bold: '600' },
  lineHeights: {
    xs: '1rem',
    sm: '1.25rem',
    md: '1.25rem',
    lg: '1.375rem',
    xl: '1.75rem',
    hint: '1.125rem',
    figure: '2.125rem',
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.75rem' },
      h2: { fontSize: '0.9375rem', lineHeight: '1.375rem' },
    },
  },
  spacing: { xs: '0.5rem', xl: '1.5rem' },
  shadows: { xs: '0 1px 2px rgb(28 25 23 / 5%)' },
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Alert: Alert.extend({
      defaultProps: { role: 'alert', radius: 'lg', icon: createElement(Icon, { name: 'warning' }) },
    }),
    Anchor: Anchor.extend({ defaultProps: { underline: 'hover', fw: 500 } }),
    Badge: Badge.extend({
      defaultProps: { variant: 'light', tt: 'none', fw: 500, h: 22, miw: 'max-content', fz: 'xs' },
    }),
    Button: Button.extend({
      // Explicit, so that styles can ask for it.
      defaultProps: { variant: 'filled' },
      // Large texts may need a second line.
      styles: {
        root: { height: 'auto' },
        inner: { minHeight: 'calc(var(--button-height) - 2px)' },
        label: { whiteSpace: 'normal', lineHeight: 1.25, overflow: 'visible' },
      },
      vars: (_, { variant, color, size }) => ({
        root: {
          ...(size === 'md' && {
            '--button-height': '2.5rem',
            '--button-fz': 'var(--mantine-font-size-sm)',
          }),
          ...(variant === 'filled' && color === undefined && ink),
        },
      }),
    }),
    Chip: Chip.extend({
      vars: () => ({ root: { '--chip-color': 'var(--on-ink)' } }),
      defaultProps: { size: 'md', color: 'var(--mantine-color-text)' },
      styles: { label: { height: 'auto', minHeight: 'var(--chip-size)', whiteSpace: 'normal' } },
    }),
    NativeSelect: NativeSelect.extend({
      defaultProps: { rightSection: createElement(Icon, { name: 'down', size: 14 }) },
    }),
    InputWrapper: Input.Wrapper.extend({
      styles: { label: { marginBottom: 4 }, error: { marginTop: 4 } },
    }),
    Paper: Paper.extend({
      defaultProps: {
        withBorder: true,
        shadow: 'xs',
        radius: 'lg',
        bg: 'var(--mantine-color-default)',
      },
    }),
    Textarea: Textarea.extend({ defaultProps: fieldProps }),
    TextInput: TextInput.extend({ defaultProps: fieldProps }),
  },
});

export const cssVariables: CSSVariablesResolver = () => {
  const [light, dark] = [0, 1].map((scheme) =>
    Object.fromEntries(
      Object.entries(tokens).map(([name, values]) => [name, values.split(' ')[scheme]!]),
    ),
  );
  return { variables: {}, light: light!, dark: dark! };
};
