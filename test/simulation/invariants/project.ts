import { notRecorded } from '../../../lambdas/store/audit.ts';
import { choiceText } from '../conditions.ts';
import { isErasure } from '../counters.ts';
import { tables } from '../database/memory-database.ts';
import { clockDifferenceMs, grouped } from '../report.ts';
import type { Report } from '../simulation.ts';
import type { StoredRegistration } from '../world.ts';
import { nothing, type Verdict, verdict } from './verdicts.ts';

/** Nothing that a send stores is left of a deleted project, unless another one has its id. */
function* deletedProjectLeavesNothing({ world, deletedAt }: Report): Iterable<Verdict> {
  const { database } = world;
  if (deletedAt === undefined) return;
  if (database.items(tables.projects).length > 0) {
    yield nothing('another project has its id');
    return;
  }
  const { subscriptions, notifications, vapidKeys, identityKeys } = tables;
  for (const table of [subscriptions, notifications, vapidKeys, identityKeys]) {
    const left = database.items(table).find((item) => table !== subscriptions || !isErasure(item));
    yield verdict(left === undefined, () => `${table}: ${JSON.stringify(left)} is left`);
  }
  const counter = database.items(tables.usage).find(({ used }) => used !== undefined);
  yield verdict(counter === undefined, () => `the counter ${counter!.period} is left`);
}

/** What is stored is the browser's last request to subscribe that had a response, or one that began later. */
function* newestRegistrationIsStored({ world, subscribed }: Report): Iterable<Verdict> {
  for (const [path, requests] of grouped(subscribed, ({ path }) => path)) {
    const history = world.registrations.get(path) ?? [];
    const stored = history.at(-1)?.stored;
    const answered = requests.filter(({ isAcknowledged }) => isAcknowledged).map(({ at }) => at);
    if (stored === undefined || answered.length === 0) continue;
    const newest = Math.max(...answered);
    // Nobody knows when what was removed had been requested: a request that was held until then is stored.
    if (history.some((one) => one.stored === undefined && one.at > newest)) {
      yield nothing('it was removed meanwhile');
      continue;
    }
    // Of two within the difference of the clocks, nobody knows which is the newer one.
    const since = newest - clockDifferenceMs;
    const possible = requests
      .filter(({ at }) => at > since)
      .map(({ choice }) => choiceText(choice));
    const found = choiceText(stored.choice);
    yield verdict(
      possible.includes(found),
      () => `${path} is ${found}, and not one of ${possible}`,
    );
  }
}

/** What a removal may remove. @param by the start of the name of its function or command. */
function* removalsAreOf(
  { world }: Report,
  isBy: (name: string) => boolean,
  mayRemove: (path: string, stored: StoredRegistration) => boolean,
): Iterable<Verdict> {
  for (const [path, history] of world.registrations) {
    for (const [index, one] of history.entries()) {
      const before = history[index - 1]?.stored;
      if (one.stored !== undefined || before === undefined || !isBy(one.by ?? '')) continue;
      yield verdict(
        mayRemove(path, before),
        () => `${path} is removed as ${JSON.stringify(before)}`,
      );
    }
  }
}

/** The owner's removal of a user or a device removes no other one, and none that has passed to another user. */
function* onlyTheUserIsRemoved(report: Report): Iterable<Verdict> {
  const { deviceRemovals, userRemovals } = report.scenario;
  yield* removalsAreOf(
    report,
    (name) => name.startsWith('removeUser'),
    (path, { user }) =>
      deviceRemovals.some((one) => one.path === path && one.userId === user) ||
      userRemovals.some((one) => one.userId === user),
  );
}

/** Who removes a user or stops a notification has an entry in the audit, or a line in the log if that cannot be written. */
function* changesAreAudited({ world }: Report): Iterable<Verdict> {
  const removals = [...world.registrations.values()].flat().filter(({ stored }) => !stored);
  const stops = [...world.slices.values()].flat().filter(({ item }) => item.stoppedAt);
  for (const run of new Set([...removals, ...stops].map(({ by = '' }) => by))) {
    if (!/^(removeUser|stopNotification)/.test(run)) continue;
    const { death, isWithoutDatabase, logs } = world.ended.get(run)!;
    if (death !== undefined || isWithoutDatabase) yield nothing('a fault has ended its function');
    else {
      const isRecorded = world.audited.has(run) || logs.has(notRecorded);
      yield verdict(isRecorded, () => `${run} has no entry`);
    }
  }
}

/** Pruning keeps what was updated since the time that the operator names. */
function* pruneRemovesOnlyUnseen(report: Report): Iterable<Verdict> {
  const command = report.scenario.commands.find(({ kind }) => kind === 'prune');
  yield* removalsAreOf(
    report,
    (name) => name.startsWith('operator: prune'),
    (_, { updatedAt }) => command?.kind === 'prune' && updatedAt < command.before,
  );
}

/** Dropping a key pair removes the subscriptions that are stored with it, and no others. */
function* dropRemovesOnlyItsPair(report: Report): Iterable<Verdict> {
  yield* removalsAreOf(
    report,
    (name) => name.startsWith('operator: drop'),
    (_, { pair }) => pair === 0,
  );
}

/** The owner of a deleted project neither sees nor changes a later one of the same id. */
function* successorIsUntouched({ world, trespasses }: Report): Iterable<Verdict> {
  yield { broken: trespasses[0] };
  for (const [path, history] of world.registrations) {
    if (!path.startsWith('/successor')) continue;
    yield verdict(
      history.every(({ stored }) => stored !== undefined),
      () => `${path} is removed`,
    );
  }
}

export const project = {
  deletedProjectLeavesNothing,
  newestRegistrationIsStored,
  onlyTheUserIsRemoved,
  changesAreAudited,
  pruneRemovesOnlyUnseen,
  dropRemovesOnlyItsPair,
  successorIsUntouched,
};
