interface Point {
  readonly atMs: number;
  readonly value: number;
  /** On hover. */
  readonly title: string;
}

interface TimeChartProps {
  readonly label: string;
  /** The oldest first, at least one. */
  readonly points: readonly Point[];
  /** The value at the upper edge. */
  readonly most: number;
  readonly format: (value: number) => string;
  readonly nowMs: number;
}

const dayMs = 24 * 60 * 60 * 1000;
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const hour = new Intl.DateTimeFormat('en', { hour: 'numeric', minute: '2-digit' });

/**
 * A line over time, from the first point until now. Without a `viewBox`: percentages follow the width, and texts, lines
 * and dots keep their size.
 */
export function TimeChart({ label, points, most, format, nowMs }: TimeChartProps) {
  const startMs = points[0]!.atMs;
  const spanMs = Math.max(nowMs - startMs, 60_000);
  // The values are written at the left.
  const x = (atMs: number) => `${12 + (87 * (atMs - startMs)) / spanMs}%`;
  const y = (value: number) => `${88 - 80 * (value / most)}%`;
  const tickText = (atMs: number) => (spanMs < 2 * dayMs ? hour : day).format(atMs);
  // Of a short time, several would be the same.
  const ticks = [0, 1 / 3, 2 / 3]
    .map((part) => startMs + part * spanMs)
    .filter((atMs, index, all) => index === 0 || tickText(atMs) !== tickText(all[index - 1]!));
  return (
    <svg className="chart" role="img" aria-label={label}>
      {[0, most / 2, most].map((value) => (
        <g key={value}>
          <line className="grid" x1="12%" x2="100%" y1={y(value)} y2={y(value)} />
          <text y={y(value)} dy="4">
            {value === 0 ? '' : format(value)}
          </text>
        </g>
      ))}
      {ticks.map((atMs) => (
        <text key={atMs} x={x(atMs)} y="100%" textAnchor={atMs === startMs ? 'start' : 'middle'}>
          {tickText(atMs)}
        </text>
      ))}
      <text x="100%" y="100%" textAnchor="end">
        now
      </text>
      {points.slice(1).map((point, index) => {
        const before = points[index]!;
        const [x1, y1] = [x(before.atMs), y(before.value)];
        return (
          <line
            key={index}
            className="line"
            x1={x1}
            y1={y1}
            x2={x(point.atMs)}
            y2={y(point.value)}
          />
        );
      })}
      {points.map(({ atMs, value, title }, index) => (
        <circle key={index} cx={x(atMs)} cy={y(value)} r="4">
          <title>{title}</title>
        </circle>
      ))}
    </svg>
  );
}

/** A round number that is at least the value: 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= value)!;
}
