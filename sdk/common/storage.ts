import type { ProjectAddress, SignedChoice } from './service.ts';
import { within } from './timing.ts';

/**
 * Storage that pages and service worker share. It is IndexedDB and not a cache, because many sites'
 * workers delete caches that they did not create. A read rejects if the browser denies storage, or does not answer in
 * time; a write resolves to the failure.
 */
const database = 'carillon';
const objectStore = 'entries';

/** The last registration of this browser with the service. Pages and service worker share it. */
export interface Registration extends ProjectAddress {
  readonly choice: SignedChoice;
  readonly endpoint: string;
  /** URL of the service worker that has answered as Carillon's. */
  readonly worker?: string | undefined;
  /** When a page said who uses the browser: milliseconds since the epoch. Undefined, or 0: none has. */
  readonly saidAt?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

/** Consecutive failures of background attempts, over all pages and the service worker. */
export interface BackgroundFailures {
  readonly count: number;
  /** Earliest time of the next attempt, in milliseconds since the epoch. */
  readonly notBefore: number;
}

/**
 * @param scope of the service worker, which has at most one subscription.
 * @returns null: the visitor has unsubscribed, or was erased, and has not subscribed since.
 */
export function readRegistration(scope: string): Promise<Registration | null | undefined> {
  return read<Registration | null>(scope);
}

/** Stores a registration, and resets the failures. The history of another user, or of nobody, ends. */
export function storeRegistration(
  scope: string,
  registration: Registration,
  earlier: Registration | null | undefined,
): Promise<unknown> {
  return write((store) => {
    store.put(registration, scope);
    store.delete(failuresKey(scope));
    if (!registration.history || registration.choice.userId !== earlier?.choice.userId) {
      store.delete(`history ${scope}`);
    }
  });
}

/** Erases all entries of the scope. Null stays, which is "not now": only a visitor's click ends that. */
export function eraseEntries(scope: string): Promise<unknown> {
  return write((store) => {
    store.put(null, scope);
    for (const kind of ['failures ', 'events ', 'history ']) store.delete(kind + scope);
  });
}

export function readFailures(scope: string): Promise<BackgroundFailures | undefined> {
  return read<BackgroundFailures>(failuresKey(scope));
}

export function storeFailures(scope: string, failures: BackgroundFailures): Promise<unknown> {
  return write((store) => {
    store.put(failures, failuresKey(scope));
  });
}

function failuresKey(scope: string): string {
  return `failures ${scope}`;
}

/**
 * Changes an entry in one transaction. Undefined erases it.
 * @param change gets the registration of the scope too.
 * @returns the new value. Rejects if it could not be stored.
 */
export function updateEntry<Value>(
  key: string,
  change: (value: Value | undefined, registration: Registration | undefined) => Value | undefined,
  scope = '',
): Promise<Value | undefined> {
  return transact<Value>((store) => {
    const changed: { result?: Value | undefined } = {};
    const registered = store.get(scope);
    const reading = store.get(key);
    // Requests of a transaction are answered in their order.
    reading.onsuccess = () => {
      changed.result = change(reading.result, registered.result);
      if (changed.result) store.put(changed.result, key);
      else store.delete(key);
    };
    return changed;
  }, 'readwrite');
}

export function read<Value>(key: string): Promise<Value | undefined> {
  return transact<Value>((store) => store.get(key));
}

function write(work: (store: IDBObjectStore) => undefined): Promise<unknown> {
  return transact<never>(work, 'readwrite').catch((failure) => failure);
}

/** A healthy database takes less than a second, also on a slow phone. */
const transactionTimeoutMs = 3000;

/** Resolves when the transaction is complete. */
function transact<Result>(
  /** @returns a request of the transaction: its result is read when the transaction has ended. */
  work: (store: IDBObjectStore) => { readonly result?: Result } | undefined,
  mode?: IDBTransactionMode,
): Promise<Result | undefined> {
  return within(
    transactionTimeoutMs,
    (signal) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open(database, 1);
        opening.onupgradeneeded = () => {
          if (mode) opening.result.createObjectStore(objectStore);
          else {
            // A read creates no database.
            resolve(undefined);
            opening.transaction!.abort();
          }
        };
        opening.onerror = reject;
        opening.onsuccess = () => {
          try {
            // Too late: the caller goes on without it.
            signal.throwIfAborted();
            const transaction = opening.result.transaction(objectStore, mode);
            const found = work(transaction.objectStore(objectStore));
            transaction.onabort = reject;
            transaction.oncomplete = () => resolve(found?.result);
          } catch (error) {
            reject(error);
          }
          // Takes effect when the transaction is complete.
          opening.result.close();
        };
      }),
  );
}

/** No tab waits longer for another one, which may be suspended or stopped in a debugger. */
const lockTimeoutMs = 10_000;

/**
 * Runs work in one page or service worker of this origin at a time, as far as the others are done in time. All that
 * the work waits for must have a limit.
 */
export async function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  let running: Promise<Result> | undefined;
  const run = () => {
    running ??= work();
    return running;
  };
  await within(lockTimeoutMs, (signal) =>
    navigator.locks.request('carillon', { signal }, run),
  ).catch(() => {});
  return run();
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Whether the browser has to be registered: if something has changed, or after a day, because the
 * service may have removed the subscription. A time later than now was stored while the clock was wrong.
 */
export function isDue(
  stored: Registration | null | undefined,
  wanted: Partial<Registration & SignedChoice>,
  now: number,
): boolean {
  const ageMs = now - (stored?.registeredAt as number);
  return !(ageMs >= 0 && ageMs <= dayMs) || isChanged({ ...stored, ...stored?.choice }, wanted);
}

/** @param wanted is compared member by member: one to clear is undefined, not absent. */
export function isChanged<Value extends object>(
  stored: Value | undefined,
  wanted: Partial<Value>,
): boolean {
  const names = Object.keys(wanted) as (keyof Value)[];
  return names.some((name) => textOf(stored?.[name]) !== textOf(wanted[name]));
}

/** Not as JSON: pages with old libraries have a `toJSON` on every array. */
function textOf(value: unknown) {
  return Array.isArray(value) ? String(value) : value;
}
