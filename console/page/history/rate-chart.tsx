import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { timeText } from '../format.ts';
import { deliveryRateText, rateOf } from './broadcasts.ts';
import { Chart, slotOf } from './chart.tsx';

interface RateChartProps {
  /** The oldest first, at least one. */
  readonly broadcasts: readonly NotificationResult[];
  readonly describedBy: string;
}

/** A line through the delivery rates. A broadcast that reached nobody is a cross. */
export function RateChart({ broadcasts, describedBy }: RateChartProps) {
  const points = broadcasts.flatMap((broadcast, index) => {
    const { middle } = slotOf(index, broadcasts.length);
    // Without a subscriber there is no rate.
    if (broadcast.attempted === 0) return [];
    return [{ broadcast, x: `${middle}%`, y: `${100 * (1 - rateOf(broadcast))}%` }];
  });
  return (
    <Chart
      broadcasts={broadcasts}
      label="Delivery rate of each broadcast"
      describedBy={describedBy}
      most="100 %"
    >
      {points.slice(1).map(({ broadcast, x, y }, index) => {
        const before = points[index]!;
        return (
          <line key={broadcast.id} class="rate-line" x1={before.x} y1={before.y} x2={x} y2={y} />
        );
      })}
      {points.map(({ broadcast, x, y }) => (
        <svg key={broadcast.id} class="rate-point" x={x} y={y}>
          <title>
            {`${timeText(broadcast.sentAt)}, ${broadcast.title}: ${deliveryRateText(broadcast)}`}
          </title>
          {broadcast.delivered === 0 ? (
            <path class="rate-nobody" d="M-5-5 5 5M-5 5 5-5" />
          ) : (
            <circle class="rate-dot" r="3" />
          )}
        </svg>
      ))}
    </Chart>
  );
}
