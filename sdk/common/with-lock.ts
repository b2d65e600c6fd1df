/** Runs work in one page or service worker of this origin at a time. */
export function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  return navigator.locks.request('carillon', work);
}
