/** `skipped`: the stack has nothing to check. */
export type Level = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  readonly level: Level;
  /** What was found, and what to do about it. One line. */
  readonly message: string;
}
