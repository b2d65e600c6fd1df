/** CloudWatch adds these to each line that it charges for. */
const perLine = 26;

/** Bytes of log lines that CloudWatch charges for. A test compares those of requests with real lines. */
export const logBytes = {
  /** Lambda's platform.start and platform.report about an invocation of send and deliver. */
  invocation: 130 + 205 + 2 * perLine,
  /** The function's line for a request. */
  request: 355 + perLine,
  /** Track's line, which counts the events since the line before. */
  events: 380 + perLine,
  /** API Gateway's line for an event, whose route is the longest. */
  access: 101 + perLine,
  /** The delivery of a slice: its line, and its metrics. */
  delivery: 1150 + 2 * perLine,
} as const;

/** Bytes of lines that CloudWatch charges for. */
export function chargedBytes(...lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + perLine, 0);
}
