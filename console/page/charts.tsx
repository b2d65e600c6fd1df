import { Box, Flex, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** The values of an axis from 0 to a round number that is at least the value, in at most three steps. */
export function ticksUpTo(value: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const steps = [0.5, 1, 2.5, 5].map((factor) => Math.ceil(factor * power));
  const step = steps.find((one) => 3 * one >= value)!;
  const length = Math.max(1, Math.ceil(value / step)) + 1;
  return Array.from({ length }, (_, index) => index * step);
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** What a colour of a bar means. */
export function Key({ color, children }: { color: string; children: ReactNode }) {
  const box = { display: 'inline-block', w: 9, h: 9, mr: 6 };
  return (
    <Text component="span" fz="hint" c="dimmed">
      <Box component="i" {...box} bg={`var(--${color})`} className="key" />
      {children}
    </Text>
  );
}

interface Column {
  /** Where it leads. */
  readonly href: string;
  readonly date: string;
  /** What it is, with its values. */
  readonly title: string;
  /** From the top. */
  readonly parts: readonly (readonly [color: string, count: number])[];
}

/** A column for each event, in even distances. What has the focus or the mouse is said below. */
export function ColumnChart({ columns }: { columns: readonly Column[] }) {
  const [title, setTitle] = useState<string>();
  const sums = columns.map(({ parts }) => parts.reduce((sum, [, count]) => sum + count, 0));
  const ticks = ticksUpTo(Math.max(...sums));
  const heightOf = (count: number) => (plotHeight * count) / ticks.at(-1)!;
  return (
    <Box pos="relative" pt={12}>
      {ticks.map((tick) => (
        <Box key={tick} {...tickProps} bottom={28 + 18 + heightOf(tick)} aria-hidden>
          {compact.format(tick).toLowerCase()}
        </Box>
      ))}
      <Flex className="chart" pl="3rem" pos="relative">
        {columns.map(({ href, date, title, parts }) => (
          <Flex
            key={href}
            component="a"
            href={href}
            aria-label={title}
            direction="column"
            align="center"
            justify="end"
            flex={1}
            h={plotHeight + 28}
            miw={0}
            fz="xs"
            c="var(--faint)"
            td="none"
            onFocus={() => setTitle(title)}
            onMouseEnter={() => setTitle(title)}
          >
            {parts.map(([color, count]) => (
              <Box
                key={color}
                className="key"
                h={heightOf(count)}
                bg={`var(--${color})`}
                w="min(16px, 80%)"
                // Between two parts, the ground is seen.
                style={{ borderTop: '2px solid var(--mantine-color-default)' }}
              />
            ))}
            <Box component="span" lh="28px" style={{ whiteSpace: 'nowrap' }}>
              {date}
            </Box>
          </Flex>
        ))}
      </Flex>
      <Text fz="hint" lh="18px" h={18} c="dimmed" truncate aria-hidden>
        {title}
      </Text>
    </Box>
  );
}

const plotHeight = 170;

/** A line of the plot, with its value above. */
const tickProps = {
  pos: 'absolute',
  left: 0,
  right: 0,
  c: 'var(--faint)',
  fz: 'xs',
  lh: 'xs',
  style: { borderBottom: '1px solid var(--line)' },
} as const;
