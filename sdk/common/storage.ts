import type { Registration } from './registration.ts';

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
    store.delete(failuresKey(scope));
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
  return transact<Value>('readwrite', (store, resolve) => {
    const reading = store.get(key);
    reading.onsuccess = () => {
      const value = change(reading.result);
      store.put(value, key);
      resolve(value);
    };
  });
}

function read<Value>(key: string): Promise<Value | undefined> {
  return transact<Value>('readonly', (store, resolve) => {
    const reading = store.get(key);
    reading.onsuccess = () => resolve(reading.result);
  });
}

/** Resolves when the transaction is complete; to undefined if it found nothing or failed. */
function transact<Result>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore, resolve: (result: Result) => void) => unknown,
): Promise<Result | undefined> {
  return new Promise((resolve) => {
    let result: Result | undefined;
    const fail = () => resolve(undefined);
    try {
      const opening = indexedDB.open(database, 1);
      opening.onerror = fail;
      opening.onupgradeneeded = () => opening.result.createObjectStore(objectStore);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction(objectStore, mode);
        transaction.onabort = fail;
        transaction.oncomplete = () => {
          opening.result.close();
          resolve(result);
        };
        work(transaction.objectStore(objectStore), (found) => {
          result = found;
        });
      };
    } catch {
      fail();
    }
  });
}
