import { useEffect, useState } from 'preact/hooks';

export interface Loaded<Value> {
  /** The last value; undefined until the first one. */
  readonly value: Value | undefined;
  /** Why the last attempt failed. */
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Loads a value, and again when one of the inputs changes.
 * @param load ignored if the view is gone, or its inputs changed, before it ends.
 */
export function useLoad<Value>(
  load: () => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; error?: unknown }>({});
  const [isLoading, setLoading] = useState(true);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const finish = (next: (previous: { value?: Value }) => { value?: Value; error?: unknown }) => {
      if (!isCurrent) return;
      setState(next);
      setLoading(false);
    };
    setLoading(true);
    load().then(
      (value) => finish(() => ({ value })),
      (error: unknown) => finish((previous) => ({ ...previous, error })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, attempts]);
  return {
    value: state.value,
    error: state.error,
    isLoading,
    reload: () => setAttempts((count) => count + 1),
  };
}
