/** Adds up the time that some work takes in this process. */
export class Stopwatch {
  seconds = 0;
  /** User and system time over all threads, in µs. */
  cpuUs = 0;

  async time(work: () => unknown): Promise<void> {
    const start = performance.now();
    const cpuBefore = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(cpuBefore);
    this.cpuUs += user + system;
    this.seconds += (performance.now() - start) / 1000;
  }
}
