/** Lets only one page or worker of this origin at a time change its subscription. */
export function exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
  // Browsers without Web Locks are older than 2022; there, two tabs may do the same work twice.
  return navigator.locks ? navigator.locks.request('carillon', work) : work();
}
