/** Seconds of a function, for the costs and the large audiences in docs/performance.md. */
export const seconds = {
  /** Starting it, which is billed too. Assumed: 200 ms of Lambda, and `npm run bench:cold` on a slower vCPU. */
  coldStart: 0.35,
  /** A round of calls to DynamoDB. */
  round: 0.005,
} as const;

/** An event: two rounds of calls, and 2 ms of a vCPU, of which Lambda gives a function this share. */
export const eventSeconds = (memoryMb: number) => 2 * seconds.round + 0.002 / (memoryMb / 1769);
