/** Runs work in one page or service worker of this origin at a time. */
export function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  // Only browsers from before 2022 lack Web Locks. In them, two tabs may do the same work twice.
  return navigator.locks ? navigator.locks.request('carillon', work) : work();
}
