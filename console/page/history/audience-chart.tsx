import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { countOf, countText, timeText } from '../format.ts';
import { Chart, slotOf } from './chart.tsx';

const parts = ['delivered', 'removed', 'failed'] as const;

interface AudienceChartProps {
  /** The oldest first, at least one. */
  readonly broadcasts: readonly NotificationResult[];
  readonly describedBy: string;
}

/** A column for each broadcast, as high as its audience. Its parts differ in colour and pattern. */
export function AudienceChart({ broadcasts, describedBy }: AudienceChartProps) {
  const most = Math.max(...broadcasts.map(({ attempted }) => attempted), 1);
  return (
    <>
      <Chart
        broadcasts={broadcasts}
        label="Audience of each broadcast"
        describedBy={describedBy}
        most={countText(most)}
      >
        <Patterns />
        {broadcasts.map((broadcast, index) => (
          <Column
            key={broadcast.id}
            broadcast={broadcast}
            most={most}
            {...slotOf(index, broadcasts.length)}
          />
        ))}
      </Chart>
      <ul class="legend">
        {parts.map((part) => (
          <li key={part}>
            <svg width="14" height="14" aria-hidden="true">
              <Part part={part} y="0" height="14" x="0" width="14" />
            </svg>
            {part}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ColumnProps {
  readonly broadcast: NotificationResult;
  readonly most: number;
  readonly start: number;
  readonly width: number;
}

function Column({ broadcast, most, start, width }: ColumnProps) {
  const { sentAt, title, attempted } = broadcast;
  let top = 100;
  return (
    <g>
      <title>{`${timeText(sentAt)}, ${title}: ${countOf(attempted, 'subscriber')}`}</title>
      {parts.map((part) => {
        const height = (100 * broadcast[part]) / most;
        top -= height;
        const [y, x] = [`${top}%`, `${start}%`];
        return (
          <Part key={part} part={part} x={x} y={y} width={`${width}%`} height={`${height}%`} />
        );
      })}
    </g>
  );
}

interface PartProps {
  readonly part: (typeof parts)[number];
  readonly x: string;
  readonly y: string;
  readonly width: string;
  readonly height: string;
}

function Part({ part, ...place }: PartProps) {
  return (
    <rect
      {...place}
      class={`part-${part}`}
      // In a style sheet, the address would be one of a file.
      {...(part !== 'delivered' && { fill: `url(#pattern-${part})` })}
    />
  );
}

function Patterns() {
  return (
    <defs>
      <pattern id="pattern-removed" width="4" height="4" patternUnits="userSpaceOnUse">
        <circle class="pattern-dot" cx="2" cy="2" r="1" />
      </pattern>
      <pattern id="pattern-failed" width="5" height="5" patternUnits="userSpaceOnUse">
        <path class="pattern-stripe" d="M-1 1 1-1M0 5 5 0M4 6 6 4" />
      </pattern>
    </defs>
  );
}
