/** Time that some work took in this process, added up. */
export class Stopwatch {
  seconds = 0;
  /** µs of user and system, over all threads. */
  cpu = 0;

  async time(work: () => unknown): Promise<void> {
    const since = performance.now();
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    this.cpu += user + system;
    this.seconds += (performance.now() - since) / 1000;
  }
}
