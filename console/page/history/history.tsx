import type { NotificationPages } from '../calls/use-notification-pages.ts';
import { Problem } from '../components/problem.tsx';
import { AudienceChart } from './audience-chart.tsx';
import { audienceHistoryText, broadcastsIn, rateHistoryText, scopeText } from './broadcasts.ts';
import { HistoryTable } from './history-table.tsx';
import { RateChart } from './rate-chart.tsx';

/** Audience and delivery rate over time: what the broadcasts among the notifications tell. */
export function History({ pages }: { readonly pages: NotificationPages }) {
  const { loaded, isLoading, loadMore } = pages;
  if (loaded === undefined) return null;
  const broadcasts = broadcastsIn(loaded);
  const hasOlder = loaded.nextCursor !== undefined;
  // One broadcast has no history.
  if (broadcasts.length < 2 && !hasOlder) return null;
  return (
    <section class="card history" aria-labelledby="history-title">
      <h2 id="history-title">Audience and delivery</h2>
      {broadcasts.length > 0 && (
        <>
          <figure>
            <figcaption>
              <h3>Audience</h3>
              <p id="audience-history">{audienceHistoryText(broadcasts)}</p>
            </figcaption>
            <AudienceChart broadcasts={broadcasts} describedBy="audience-history" />
          </figure>
          <figure>
            <figcaption>
              <h3>Delivery rate</h3>
              <p id="rate-history">{rateHistoryText(broadcasts)}</p>
            </figcaption>
            <RateChart broadcasts={broadcasts} describedBy="rate-history" />
          </figure>
          <HistoryTable broadcasts={broadcasts} />
        </>
      )}
      <p class="hint" role="status">
        {scopeText(broadcasts.length, loaded)} Each was sent to everyone without a condition, so the
        subscribers it attempted are the audience of that time; delivered means accepted by the push
        service.
      </p>
      {hasOlder && (
        <div class="buttons">
          <button type="button" onClick={loadMore} aria-disabled={isLoading}>
            {isLoading ? 'Loading…' : 'Include older broadcasts'}
          </button>
        </div>
      )}
      <Problem error={pages.error} />
    </section>
  );
}
