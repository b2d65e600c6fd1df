import { useState } from 'preact/hooks';

export interface Action<Parameters extends readonly unknown[]> {
  readonly run: (...parameters: Parameters) => void;
  readonly isRunning: boolean;
  /** Why the last run failed. */
  readonly error: unknown;
}

/** The work of a button: one run at a time. */
export function useAction<Parameters extends readonly unknown[]>(
  work: (...parameters: Parameters) => Promise<void>,
): Action<Parameters> {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (...parameters: Parameters) => {
    if (isRunning) return;
    setRunning(true);
    setError(undefined);
    await work(...parameters).catch(setError);
    setRunning(false);
  };
  return { run, isRunning, error };
}
