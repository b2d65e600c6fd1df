import { element, fromTemplate, part } from './element.ts';

/** What the local stack tells of a notification. */
type Counts = Partial<Record<(typeof countNames)[number], number>>;

const countNames = ['attempted', 'delivered', 'removed', 'failed', 'shown', 'clicked'] as const;

/** Milliseconds between two looks at the counts. */
const interval = 1000;
/** Notifications watched; older ones stay as they were. */
const watchedMost = 5;

const watched: { readonly row: HTMLElement; readonly url: string }[] = [];

/** Shows a notification that was sent, and its counts from now on as they grow. */
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
  watched.unshift({ row, url: `/local/projects/${projectId}/notifications/${result.id}` });
  watched.splice(watchedMost);
  if (watched.length === 1) look();
}

async function look(): Promise<void> {
  let isLive = true;
  for (const { row, url } of watched) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) showCounts(row, await response.json());
    else isLive = false;
  }
  element('live').hidden = !isLive;
  setTimeout(look, interval);
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
