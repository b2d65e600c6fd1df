import type { ProjectAddress, User } from './service.ts';

/**
 * Storage that pages and service worker share. It is IndexedDB and not a cache, because many sites'
 * workers delete caches that they did not create. If a browser denies storage, reads find nothing and
 * no call fails.
 */
const database = 'carillon';
const objectStore = 'entries';

/** Consecutive failures of background attempts, over all pages and the service worker. */
export interface BackgroundFailures {
  readonly count: number;
  /** Earliest time of the next attempt, in milliseconds since the epoch. */
  readonly notBefore: number;
}

/** @param scope of the service worker, which has at most one subscription. */
export function readRegistration(scope: string): Promise<Registration | undefined> {
  return read<Registration>(scope);
}

/** Stores a registration, or forgets it, and resets the failures. */
export function storeRegistration(
  scope: string,
  registration: Registration | undefined,
): Promise<unknown> {
  return transact('readwrite', (store) => {
    store.put(registration, scope);
    return store.delete(failuresKey(scope));
  });
}

export function readFailures(scope: string): Promise<BackgroundFailures | undefined> {
  return read<BackgroundFailures>(failuresKey(scope));
}

export function storeFailures(scope: string, failures: BackgroundFailures): Promise<unknown> {
  return transact('readwrite', (store) => store.put(failures, failuresKey(scope)));
}

function failuresKey(scope: string): string {
  return `failures ${scope}`;
}

/**
 * Changes an entry in one transaction.
 * @returns the new value; undefined if the browser denies storage.
 */
export function updateEntry<Value>(
  key: string,
  change: (value: Value | undefined) => Value,
): Promise<Value | undefined> {
  return transact<Value>('readwrite', (store) => {
    const changed: { result?: Value } = {};
    const reading = store.get(key);
    reading.onsuccess = () => {
      changed.result = change(reading.result);
      store.put(changed.result, key);
    };
    return changed;
  });
}

function read<Value>(key: string): Promise<Value | undefined> {
  return transact<Value>('readonly', (store) => store.get(key));
}

/** Resolves when the transaction is complete; to undefined if it found nothing or failed. */
function transact<Result>(
  mode: IDBTransactionMode,
  /** Returns what has the result by the end of the transaction, such as a request. */
  work: (store: IDBObjectStore) => { readonly result?: Result },
): Promise<Result | undefined> {
  return new Promise((resolve) => {
    const fail = () => resolve(undefined);
    try {
      const opening = indexedDB.open(database, 1);
      opening.onerror = fail;
      opening.onupgradeneeded = () => opening.result.createObjectStore(objectStore);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction(objectStore, mode);
        const found = work(transaction.objectStore(objectStore));
        transaction.onabort = fail;
        transaction.oncomplete = () => {
          opening.result.close();
          resolve(found.result);
        };
      };
    } catch {
      fail();
    }
  });
}

/** Runs work in one page or service worker of this origin at a time. */
export function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  return navigator.locks.request('carillon', work);
}

/** The last registration of this browser with the service. Pages and service worker share it. */
export interface Registration extends ProjectAddress, Partial<User> {
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Whether the browser has to be registered: if something has changed, or after a day, because the
 * service may have removed the subscription.
 * @param wanted is compared member by member: one to clear is undefined, not absent.
 */
export function isDue(
  stored: Registration | undefined,
  wanted: Partial<Registration>,
  now: number,
): boolean {
  if (stored === undefined || now - stored.registeredAt > dayMs) return true;
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  return names.some((name) => JSON.stringify(stored[name]) !== JSON.stringify(wanted[name]));
}
