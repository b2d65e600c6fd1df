import type { DeliveryVerdict } from '../../../contract/delivery-verdict.ts';

interface VerdictProps {
  readonly verdict: DeliveryVerdict;
}

/** What became of a notification, and what to do about bad news. */
export function Verdict({ verdict: { tone, text, advice } }: VerdictProps) {
  return (
    <div role="status" class="verdict" id="verdict" data-tone={tone}>
      <p>{text}</p>
      {advice !== undefined && (
        <p>
          <strong>What to do:</strong> {advice}
        </p>
      )}
    </div>
  );
}

/** Bad news in a few words. Nothing without any. */
export function VerdictLabel({ verdict: { tone, label } }: VerdictProps) {
  return label === undefined ? null : (
    <strong class="verdict-label" data-tone={tone}>
      {label}
    </strong>
  );
}
