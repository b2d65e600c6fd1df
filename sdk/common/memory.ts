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

/** @param scope of the service worker: one has one subscription. */
export function recall(scope: string): Promise<KnownRegistration | undefined> {
  return transact<KnownRegistration>('readonly', (store, resolve) => {
    const reading = store.get(scope);
    reading.onsuccess = () => resolve(reading.result);
  });
}

export function remember(scope: string, registration: KnownRegistration): Promise<unknown> {
  return transact('readwrite', (store) => store.put(registration, scope));
}

export function forget(scope: string): Promise<unknown> {
  return transact('readwrite', (store) => store.delete(scope));
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
