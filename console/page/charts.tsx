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

const top = 8;
const bottom = 86;

/** Where the plot is, in percent: the values are at its left, the dates below. */
function usePlot() {
  const left = useMatches({ base: 11, sm: 9, lg: 5 });
  return {
    left,
    x: (part: number) => left + (100 - left) * part,
    y: (part: number) => bottom - (bottom - top) * part,
  };
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

interface ChartProps {
  /** What it says, for those who do not see it. */
  readonly label: string;
  readonly ticks: readonly number[];
  readonly dates: readonly {
    readonly part: number;
    readonly text: string;
    readonly isMinor?: boolean;
  }[];
  readonly children: ReactNode;
}

function Chart({ label, ticks, dates, children }: ChartProps) {
  const { left, x, y } = usePlot();
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
      {ticks.map((tick) => {
        const height = `${y(tick / ticks.at(-1)!)}%`;
        const line =
          tick === 0 ? { stroke: 'var(--control)' } : { stroke: 'var(--line)', strokeDasharray: 4 };
        return (
          <g key={tick}>
            <line x1={`${left}%`} x2="100%" y1={height} y2={height} {...line} />
            <text y={height} dy={4}>
              {compact.format(tick).toLowerCase()}
            </text>
          </g>
        );
      })}
      {dates.map(({ part, text, isMinor }) => (
        <text
          key={part}
          x={`${x(part)}%`}
          y="97%"
          textAnchor="middle"
          className={isMinor ? 'mantine-visible-from-sm' : ''}
        >
          {text}
        </text>
      ))}
      {children}
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
  const { x, y } = usePlot();
  const ticks = ticksUpTo(
    Math.max(...columns.map(({ parts }) => parts.reduce((sum, [, count]) => sum + count, 0))),
  );
  const most = ticks.at(-1)!;
  const dates = columns.map(({ at }, index) => ({
    part: (index + 0.5) / columns.length,
    text: dateText(at, Date.now()),
    isMinor: index % 4 !== 0,
  }));
  return (
    <Chart label={label} ticks={ticks} dates={dates.filter((_, index) => index % 2 === 0)}>
      {columns.map(({ title, parts }, index) => {
        const at = `${x(dates[index]!.part)}%`;
        let from = 0;
        return (
          <g key={at} transform="translate(-8)">
            <title>{title}</title>
            {parts
              .filter(([, count]) => count > 0)
              .map(([color, count]) => {
                const below = y(from / most);
                from += count;
                const above = y(from / most);
                return (
                  <g key={color}>
                    <rect
                      x={at}
                      y={`${above}%`}
                      width={16}
                      height={`${below - above}%`}
                      fill={`var(--${color})`}
                    />
                    {/* Between two parts, the ground is seen. */}
                    <rect
                      x={at}
                      y={`${below}%`}
                      width={16}
                      height={from > count ? 2 : 0}
                      fill="var(--mantine-color-default)"
                    />
                  </g>
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
  const { left, x, y } = usePlot();
  const startMs = Date.parse(points[0]!.at);
  const spanMs = Math.max(Date.now() - startMs, 60_000);
  const ticks = ticksUpTo(Math.max(...points.map(({ value }) => value)));
  const places = points.map(
    ({ at, value }) => [x((Date.parse(at) - startMs) / spanMs), y(value / ticks.at(-1)!)] as const,
  );
  const dates = [0.04, 1 / 3, 2 / 3].map((part) => ({
    part,
    text: dateText(new Date(startMs + part * spanMs).toISOString(), Date.now()),
  }));
  // In a short time, several dates would be the same.
  const different = dates.filter(({ text }, index) => text !== dates[index - 1]?.text);
  const line = places.map((place) => place.join()).join(' ');
  const [lastX, lastY] = places.at(-1)!;
  return (
    <Chart label={label} ticks={ticks} dates={different}>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden fill="none">
        <polygon
          points={`${left},${bottom} ${line} ${lastX},${bottom}`}
          fill="var(--accent)"
          opacity={0.1}
        />
        <polyline
          points={line}
          stroke="var(--accent)"
          strokeWidth={2}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <text
        x={`${lastX}%`}
        y={`${lastY}%`}
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
