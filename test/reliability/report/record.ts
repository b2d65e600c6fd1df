import { appendFileSync } from 'node:fs';

/** A figure that a test counted while it ran, as it lies in the file of records: one line each. */
export interface FigureRecord {
  readonly testPath: string;
  /** Titles of the test and of what is around it, joined by blanks, as Jest has it. */
  readonly testName: string;
  /** What was counted, in the plural: `requests fuzzed`. */
  readonly figure: string;
  readonly count: number;
}

/** Names the file of records; where it is absent nothing is recorded. */
export const recordsVariable = 'TRUST_RECORDS';

/**
 * Adds to a figure of the report. To be called by a test as it counts; where the test fails, the
 * report is not written.
 */
export function record(figure: string, count: number): void {
  const { currentTestName, testPath } = expect.getState();
  if (currentTestName === undefined || testPath === undefined) {
    throw new Error('Only a running test can record a figure.');
  }
  const file = process.env[recordsVariable];
  if (file === undefined) return;
  const line: FigureRecord = { testPath, testName: currentTestName, figure, count };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}
