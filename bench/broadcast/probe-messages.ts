import type { Profiler } from 'node:inspector';

/** Name of the channel between the main thread of the stack and the thread of the send function. */
export const probeChannel = 'bench-probe';

export type ProbeCommand = 'start' | 'stop';

export interface ProbeReport {
  readonly profile: Profiler.Profile;
  /** Maximum of the JavaScript heap and the memory of its buffers. */
  readonly peakHeapBytes: number;
}
