import { Alert } from '@mantine/core';
import { failureText } from '../calls/failure-text.ts';

/** Says what failed and what to do. Screen readers announce it at once. Nothing without an error. */
export function Problem({ error }: { readonly error: unknown }) {
  if (error === undefined || error === null) return null;
  const { what, advice } = failureText(error);
  return (
    <Alert role="alert" color="red" variant="outline" title={what}>
      {advice}
    </Alert>
  );
}
