import type { ComponentChildren } from 'preact';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { timeText } from '../format.ts';

interface ChartProps {
  /** The oldest first, at least one. */
  readonly broadcasts: readonly NotificationResult[];
  readonly label: string;
  /** Id of the sentence that says what the chart shows. */
  readonly describedBy: string;
  /** The value at the upper edge. */
  readonly most: string;
  readonly children: ComponentChildren;
}

/**
 * The frame of a chart: its scale, and the dates of the first and the last broadcast. Without a `viewBox`: percentages
 * follow the width, and texts, lines and dots keep their size.
 */
export function Chart({ broadcasts, label, describedBy, most, children }: ChartProps) {
  const [first, last] = [broadcasts[0]!, broadcasts.at(-1)!];
  return (
    // Few columns would become broad ones.
    <div class="chart" style={{ maxWidth: `${Math.max(18, 3.5 * broadcasts.length)}rem` }}>
      <p class="chart-most" aria-hidden="true">
        {most}
      </p>
      <svg role="img" aria-label={label} aria-describedby={describedBy}>
        <line class="chart-line" x2="100%" />
        <line class="chart-line" y1="100%" x2="100%" y2="100%" />
        {children}
      </svg>
      <p class="chart-dates" aria-hidden="true">
        <span>{timeText(first.sentAt)}</span>
        {broadcasts.length > 1 && <span>{timeText(last.sentAt)}</span>}
      </p>
    </div>
  );
}

/** The slot of a broadcast, in percent of the width. They follow each other, whatever time is between them. */
export function slotOf(index: number, broadcasts: number) {
  const width = 100 / broadcasts;
  return { start: (index + 0.15) * width, middle: (index + 0.5) * width, width: 0.7 * width };
}
