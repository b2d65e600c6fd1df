import type { Profiler } from 'node:inspector';

/** Between the process of the stack and the thread of the send function. */
export const probeChannel = 'bench-probe';

export type ProbeCommand = 'start' | 'stop';

export interface ProbeReport {
  readonly profile: Profiler.Profile;
  /** Bytes: JavaScript's heap and what it holds outside, at the most. */
  readonly peakHeap: number;
}
