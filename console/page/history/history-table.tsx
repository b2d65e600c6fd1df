import { deliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { VerdictLabel } from '../delivery/verdict.tsx';
import { countText, timeText } from '../format.ts';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { deliveryRateText } from './broadcasts.ts';

/** The figures of the charts, the newest first. */
export function HistoryTable({
  broadcasts,
}: {
  readonly broadcasts: readonly NotificationResult[];
}) {
  const { projectId } = useSession().client;
  return (
    <details class="group">
      <summary>The same as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it. */}
      <section class="scroll" aria-label="Audience and delivery of each broadcast" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Audience</th>
              <th scope="col">Delivered</th>
              <th scope="col">Rate</th>
              <th scope="col">Removed</th>
              <th scope="col">Failed</th>
            </tr>
          </thead>
          {broadcasts.toReversed().map((broadcast) => (
            // A line for the name: with the counts, it would be broader than a phone.
            <tbody key={broadcast.id}>
              <tr>
                <th scope="rowgroup" colSpan={5}>
                  <a
                    href={fragmentOf({
                      view: 'notification',
                      projectId,
                      notificationId: broadcast.id,
                    })}
                  >
                    {broadcast.title}
                  </a>{' '}
                  <time dateTime={broadcast.sentAt}>{timeText(broadcast.sentAt)}</time>{' '}
                  <VerdictLabel verdict={deliveryVerdict(broadcast)} />
                </th>
              </tr>
              <tr>
                <td>{countText(broadcast.attempted)}</td>
                <td>{countText(broadcast.delivered)}</td>
                <td>{deliveryRateText(broadcast)}</td>
                <td>{countText(broadcast.removed)}</td>
                <td data-count="failed" data-zero={broadcast.failed === 0 || undefined}>
                  {countText(broadcast.failed)}
                </td>
              </tr>
            </tbody>
          ))}
        </table>
      </section>
    </details>
  );
}
