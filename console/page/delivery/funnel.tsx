import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { countText, rateText } from '../format.ts';

interface Step {
  readonly name: string;
  readonly count: number;
  /** The step that the rate relates to. */
  readonly of?: { readonly name: string; readonly count: number };
  readonly meaning: string;
}

/** The steps from the push to the click, each with its count and its part of the step before. */
export function Funnel({ notification }: { readonly notification: NotificationResult }) {
  const steps = stepsOf(notification);
  const most = Math.max(...steps.map(({ count }) => count), 1);
  return (
    <ol class="funnel">
      {steps.map(({ name, count, of, meaning }) => (
        <li key={name} data-step={name} data-zero={count === 0 || undefined}>
          <span class="funnel-name">{name}</span>
          <span class="funnel-count">{countText(count)}</span>
          <span class="funnel-rate">
            {of === undefined || of.count === 0
              ? ''
              : `${rateText(count, of.count)} of ${of.name.toLowerCase()}`}
          </span>
          <span class="funnel-bar" aria-hidden="true">
            <span style={{ width: `${(100 * count) / most}%` }} />
          </span>
          <span class="funnel-meaning">{meaning}</span>
        </li>
      ))}
    </ol>
  );
}

function stepsOf({ attempted, delivered, shown, clicked }: NotificationResult): readonly Step[] {
  const first = { name: 'Attempted', count: attempted };
  const second = { name: 'Delivered', count: delivered };
  const third = { name: 'Shown', count: shown };
  return [
    { ...first, meaning: 'Subscribers to whom Carillon pushed.' },
    { ...second, of: first, meaning: 'The push service accepted the message.' },
    { ...third, of: second, meaning: 'The browser reported that it showed the notification.' },
    { name: 'Clicked', count: clicked, of: third, meaning: 'The browser reported a click.' },
  ];
}
