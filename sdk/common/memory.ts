import type { KnownRegistration } from './known-registration.ts';

/**
 * What page and service worker share, in IndexedDB rather than in a cache, since many sites'
 * workers delete the caches they do not know. Where a browser denies storage, nothing is
 * remembered and nothing fails.
 */
const database = 'carillon';
const entries = 'entries';
const beacons = 'beacons';
/** Beacons remembered, oldest forgotten first: enough that no notification still shown is among them. */
const beaconsKept = 256;

/** Failures in a row of what nobody waits for, as the pages and the service worker share them. */
export interface BackgroundFailures {
  readonly count: number;
  /** Milliseconds since the epoch: the next attempt is not made before. */
  readonly notBefore: number;
}

/** @param scope of the service worker: one has one subscription. */
export function recall(scope: string): Promise<KnownRegistration | undefined> {
  return read<KnownRegistration>(scope);
}

/** Ends a run of failures, too. */
export function remember(scope: string, registration: KnownRegistration): Promise<unknown> {
  return transact('readwrite', (store) => {
    store.put(registration, scope);
    store.delete(failuresOf(scope));
  });
}

export function forget(scope: string): Promise<unknown> {
  return transact('readwrite', (store) => {
    store.delete(scope);
    store.delete(failuresOf(scope));
  });
}

export function recallFailures(scope: string): Promise<BackgroundFailures | undefined> {
  return read<BackgroundFailures>(failuresOf(scope));
}

export function rememberFailures(scope: string, failures: BackgroundFailures): Promise<unknown> {
  return transact('readwrite', (store) => store.put(failures, failuresOf(scope)));
}

function failuresOf(scope: string): string {
  return `failures ${scope}`;
}

/** @returns whether this is the first time that this browser claims the beacon of that name. */
export async function claim(beacon: string): Promise<boolean> {
  const claimed = await transact<boolean>('readwrite', (store, resolve) => {
    const reading = store.get(beacons);
    reading.onsuccess = () => {
      const earlier: string[] = reading.result ?? [];
      const isFirst = !earlier.includes(beacon);
      if (isFirst) store.put([...earlier, beacon].slice(-beaconsKept), beacons);
      resolve(isFirst);
    };
  });
  return claimed ?? true;
}

function read<Value>(key: string): Promise<Value | undefined> {
  return transact<Value>('readonly', (store, resolve) => {
    const reading = store.get(key);
    reading.onsuccess = () => resolve(reading.result);
  });
}

/** Resolves once the transaction is complete; to undefined where it found nothing or failed. */
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
      opening.onupgradeneeded = () => opening.result.createObjectStore(entries);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction(entries, mode);
        transaction.onabort = fail;
        transaction.oncomplete = () => {
          opening.result.close();
          resolve(result);
        };
        work(transaction.objectStore(entries), (found) => {
          result = found;
        });
      };
    } catch {
      fail();
    }
  });
}
