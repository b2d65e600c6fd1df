import { element, fromTemplate, part } from './element.ts';

/** The counts of a notification. */
type Counts = Partial<Record<(typeof countNames)[number], number>>;

const countNames = ['attempted', 'delivered', 'removed', 'failed', 'shown', 'clicked'] as const;

const pollIntervalMs = 1000;
/** The page does not update the counts of older notifications. */
const maxPolledNotifications = 5;

const polled: { readonly row: HTMLElement; readonly url: string }[] = [];

/** Shows a sent notification and updates its counts. */
export function showNotification(
  projectId: string,
  title: string,
  result: Counts & { readonly id: string; readonly unreached?: number },
): void {
  const row = fromTemplate('notification-template');
  row.dataset.id = result.id;
  part(row, '.title').textContent = title;
  part(row, 'time').textContent = new Date().toLocaleTimeString();
  part(row, '.nobody').hidden = result.attempted !== 0 || result.unreached !== undefined;
  showCounts(row, { shown: 0, clicked: 0, ...result });
  element('notifications-empty').hidden = true;
  element('notifications').prepend(row);
  polled.unshift({ row, url: `/local/projects/${projectId}/notifications/${result.id}` });
  polled.splice(maxPolledNotifications);
  if (polled.length === 1) poll();
}

async function poll(): Promise<void> {
  let isLive = true;
  for (const { row, url } of polled) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) showCounts(row, await response.json());
    else isLive = false;
  }
  element('live').hidden = !isLive;
  setTimeout(poll, pollIntervalMs);
}

function showCounts(row: HTMLElement, counts: Counts): void {
  const list = part(row, '.counts');
  list.replaceChildren(
    ...countNames.map((name) => {
      const count = counts[name] ?? 0;
      const item = document.createElement('div');
      item.className = 'count';
      item.dataset.name = name;
      item.toggleAttribute('data-zero', count === 0);
      item.toggleAttribute('data-beacon', name === 'shown' || name === 'clicked');
      item.toggleAttribute('data-trouble', name === 'removed' || name === 'failed');
      const term = document.createElement('dt');
      term.textContent = name;
      const value = document.createElement('dd');
      value.textContent = String(count);
      item.append(term, value);
      return item;
    }),
  );
}
