import type { SignedChoice } from './service.ts';
import { type Registration, read, readRegistration, updateEntry } from './storage.ts';
import { timing } from './timing.ts';

/** A notification that was shown on this device. */
export interface HistoryEntry {
  /** Id of the notification, as in the response to its send. */
  readonly id: string;
  readonly title: string;
  readonly body?: string | undefined;
  /** Absolute URL that a click opens. */
  readonly url: string;
  readonly icon?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly shownAt: number;
  /** Undefined: it was not clicked. */
  readonly clickedAt?: number | undefined;
}

/** What was shown to one user, newest first. */
interface History {
  /** Of the registration under which it was shown. */
  readonly userId: SignedChoice['userId'];
  readonly entries: readonly HistoryEntry[];
}

const maxAgeMs = 30 * 24 * 60 * 60 * 1000;

/** What was shown to this user in the last 30 days. */
function entriesOf(
  { userId: owner, entries = [] }: Partial<History> = {},
  userId: SignedChoice['userId'],
): readonly HistoryEntry[] {
  return entries.filter(({ shownAt }) => owner === userId && timing.now() - shownAt < maxAgeMs);
}

/** @throws if storage is denied: what is kept is not known then. */
export async function readHistory(scope: string, userId: SignedChoice['userId']) {
  return entriesOf(await read<History>(`history ${scope}`), userId);
}

/** Keeps what was shown. Rejects if storage is denied or full. */
export function keepShown(scope: string, entry: HistoryEntry): Promise<void> {
  return update(scope, (history, { choice, history: count, saidAt }) => {
    const { userId } = choice;
    // What arrives after a log-out was sent to who was logged in before.
    if (userId === null && saidAt) return undefined;
    const earlier = entriesOf(history, userId);
    // A push service may deliver a message twice.
    const others = earlier.filter(({ id }) => id !== entry.id);
    return { userId, entries: [entry, ...others].slice(0, count) };
  });
}

/** Marks a notification as clicked, if it is kept. */
export function keepClicked(scope: string, clicked: string, now: number): Promise<void> {
  return update(scope, (history) => {
    if (!history) return undefined;
    const entries = history.entries.map((entry) =>
      entry.id === clicked ? { ...entry, clickedAt: now } : entry,
    );
    return { ...history, entries };
  });
}

/** Changes the history, in one transaction with what the browser is registered as, if the page has asked for one. */
async function update(
  scope: string,
  change: (history: History | undefined, registration: Registration) => History | undefined,
): Promise<void> {
  // Most sites keep none: then nothing is written.
  if (!(await readRegistration(scope))?.history) return;
  await updateEntry<History>(
    `history ${scope}`,
    (history, registration) => (registration?.history ? change(history, registration) : undefined),
    scope,
  );
}
