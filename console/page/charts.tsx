import { Box, Text, useMatches } from '@mantine/core';
import type { ReactNode } from 'react';
import { countText } from '../../contract/text/text.ts';
import { dateText } from './format.ts';

/** Charts of numbers over time, in percentages of their width: texts and lines keep their size. */

/** The values of an axis from 0 to a round number that is at least the value, in at most three steps. */
export function ticksUpTo(value: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const steps = [0.5, 1, 2.5, 5].map((factor) => Math.ceil(factor * power));
  const step = steps.find((one) => 3 * one >= value)!;
  return Array.from(
    { length: Math.max(1, Math.ceil(value / step)) + 1 },
    (_, index) => index * step,
  );
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** A part of 1 as a length in the plot. */
const percent = (part: number) => `${100 * part}%`;

interface ChartProps {
  /** What it says, for those who do not see it. */
  readonly label: string;
  readonly ticks: readonly number[];
  readonly dates: readonly {
    readonly part: number;
    readonly text: string;
    readonly isMinor?: boolean;
  }[];
  /** The data, in percentages of the plot. */
  readonly children: ReactNode;
}

/** The plot has the values at its left, and the dates below. */
function Chart({ label, ticks, dates, children }: ChartProps) {
  const left = useMatches({ base: 0.11, sm: 0.09, lg: 0.05 });
  return (
    <svg
      className="chart"
      role="img"
      aria-label={label}
      width="100%"
      height={210}
      fontSize="0.75rem"
      fill="var(--faint)"
    >
      <svg
        x={percent(left)}
        y="8%"
        width={percent(1 - left)}
        height="78%"
        overflow="visible"
        aria-hidden
      >
        {ticks.map((tick) => (
          <svg key={tick} y={percent(1 - tick / ticks.at(-1)!)} overflow="visible" aria-hidden>
            <line
              x2="100%"
              stroke={tick === 0 ? 'var(--control)' : 'var(--line)'}
              strokeDasharray={tick === 0 ? undefined : 4}
            />
            <text x={percent(left / (left - 1))} dy={4}>
              {compact.format(tick).toLowerCase()}
            </text>
          </svg>
        ))}
        {dates.map(({ part, text, isMinor }) => (
          <text
            key={part}
            x={percent(part)}
            y="114%"
            textAnchor="middle"
            className={isMinor ? 'mantine-visible-from-sm' : ''}
          >
            {text}
          </text>
        ))}
        {children}
      </svg>
    </svg>
  );
}

/** What a colour of a bar means. */
export function Key({ color, children }: { color: string; children: ReactNode }) {
  return (
    <Text component="span" fz="hint" c="dimmed">
      <Box
        component="i"
        display="inline-block"
        w={9}
        h={9}
        mr={6}
        bg={`var(--${color})`}
        className="key"
      />
      {children}
    </Text>
  );
}

interface Column {
  /** RFC 3339. */
  readonly at: string;
  /** On hover. */
  readonly title: string;
  /** From the bottom. */
  readonly parts: readonly (readonly [color: string, count: number])[];
}

/** A column for each event, in even distances. */
export function ColumnChart({ label, columns }: { label: string; columns: readonly Column[] }) {
  const sums = columns.map(({ parts }) => parts.reduce((sum, [, count]) => sum + count, 0));
  const ticks = ticksUpTo(Math.max(...sums));
  const middleOf = (index: number) => (index + 0.5) / columns.length;
  const dates = columns.map(({ at }, index) => ({
    part: middleOf(index),
    text: dateText(at, Date.now()),
    isMinor: index % 4 !== 0,
  }));
  return (
    <Chart label={label} ticks={ticks} dates={dates.filter((_, index) => index % 2 === 0)}>
      {columns.map(({ at: time, title, parts }, index) => {
        let top = 1;
        return (
          <g key={time} transform="translate(-8)">
            <title>{title}</title>
            {parts
              .filter(([, count]) => count > 0)
              .map(([color, count], at, { length }) => {
                // Between two parts, the ground is seen.
                const gap = at < length - 1 ? 2 : 0;
                const height = count / ticks.at(-1)!;
                top -= height;
                return (
                  <rect
                    key={color}
                    x={percent(middleOf(index))}
                    width={16}
                    fill={`var(--${color})`}
                    style={{
                      y: `calc(${percent(top)} + ${gap}px)`,
                      height: `calc(${percent(height)} - ${gap}px)`,
                    }}
                  />
                );
              })}
          </g>
        );
      })}
    </Chart>
  );
}

interface Point {
  /** RFC 3339. */
  readonly at: string;
  readonly value: number;
}

/** A value over time, from the first point until now. @param points the oldest first, at least two. */
export function LineChart({ label, points }: { label: string; points: readonly Point[] }) {
  const startMs = Date.parse(points[0]!.at);
  const spanMs = Math.max(Date.now() - startMs, 60_000);
  const ticks = ticksUpTo(Math.max(...points.map(({ value }) => value)));
  const places = points.map(
    ({ at, value }) => [(Date.parse(at) - startMs) / spanMs, 1 - value / ticks.at(-1)!] as const,
  );
  const dates = [0.04, 1 / 3, 2 / 3].map((part) => ({
    part,
    text: dateText(new Date(startMs + part * spanMs).toISOString(), Date.now()),
  }));
  // In a short time, several dates would be the same.
  const different = dates.filter(({ text }, index) => text !== dates[index - 1]?.text);
  const [lastX, lastY] = places.at(-1)!;
  return (
    <Chart label={label} ticks={ticks} dates={different}>
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden fill="none">
        <polygon
          points={['0,1', ...places, `${lastX},1`].join(' ')}
          fill="var(--accent)"
          opacity={0.1}
        />
        <polyline
          points={places.join(' ')}
          stroke="var(--accent)"
          strokeWidth={2}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <text
        x={percent(lastX)}
        y={percent(lastY)}
        dy={-10}
        textAnchor="end"
        fontWeight={600}
        fill="var(--mantine-color-text)"
      >
        {countText(points.at(-1)!.value)}
      </text>
    </Chart>
  );
}
