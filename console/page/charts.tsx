import { Box, Flex, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { countText } from '../../contract/text/text.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { lostOf } from '../../contract/wording/delivery-verdict.ts';
import { dateText, timeText } from './format.ts';
import { useSession } from './session.ts';
import { Card } from './view.tsx';

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
export function Legend({ color, children }: { color: string; children: ReactNode }) {
  const box = { display: 'inline-block', w: 9, h: 9, mr: 6 };
  return (
    <Text component="span" fz="hint" c="dimmed">
      <Box component="i" {...box} bg={`var(--${color})`} className="key" />
      {children}
    </Text>
  );
}

const colors = {
  Delivered: 'accent-2',
  Clicked: 'deep',
  Failed: 'bad-fill',
  'Not attempted': 'base',
} as const;

/** Broadcasts in a column each, which leads to the notification. What has the focus or the mouse is said below. */
export function Broadcasts({ broadcasts }: { readonly broadcasts: readonly NotificationResult[] }) {
  const { href } = useSession();
  const [title, setTitle] = useState<string>();
  const ticks = ticksUpTo(Math.max(...broadcasts.map((one) => one.delivered + lostOf(one))));
  const heightOf = (count: number) => (plotHeight * count) / ticks.at(-1)!;
  const columns = broadcasts.map((one) => {
    const { delivered, clicked, failed, unreached = 0 } = one;
    const counts = { delivered, clicked, failed, 'not attempted': unreached };
    const texts = Object.entries(counts).map(([name, count]) =>
      count === null ? `${name} not measured` : `${countText(count)} ${name}`,
    );
    const title = `${texts.join(', ')}: ${one.title}, ${timeText(one.sentAt)}`;
    // From the top.
    const parts = [
      ['Not attempted', unreached],
      ['Failed', failed],
      ['Delivered', Math.max(0, delivered - (clicked ?? 0))],
      ['Clicked', Math.min(clicked ?? 0, delivered)],
    ] as const;
    return (
      <Flex
        key={one.id}
        component="a"
        href={href('notification', one.id)}
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
        {parts.map(([name, count]) => (
          <Box
            key={name}
            className="key"
            h={heightOf(count)}
            bg={`var(--${colors[name]})`}
            w="min(16px, 80%)"
            // Between two parts, the ground is seen.
            style={{ borderTop: '2px solid var(--mantine-color-default)' }}
          />
        ))}
        <Box component="span" lh="28px" style={{ whiteSpace: 'nowrap' }}>
          {dateText(one.sentAt, Date.now())}
        </Box>
      </Flex>
    );
  });
  const legend = (
    <Group gap="0.25rem 0.875rem">
      {Object.entries(colors).map(([name, color]) => (
        <Legend key={name} color={color}>
          {name}
        </Legend>
      ))}
    </Group>
  );
  return (
    <Card title={`Last ${broadcasts.length} broadcasts`} aside={legend}>
      <Box pos="relative" pt={12}>
        {ticks.map((tick) => (
          <Box key={tick} {...tickProps} bottom={28 + 18 + heightOf(tick)} aria-hidden>
            {compact.format(tick).toLowerCase()}
          </Box>
        ))}
        <Flex className="chart" pl="3rem" pos="relative">
          {columns}
        </Flex>
        <Text fz="hint" lh="18px" h={18} c="dimmed" truncate aria-hidden>
          {title}
        </Text>
      </Box>
    </Card>
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
