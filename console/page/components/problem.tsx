import { failureText } from '../calls/failure-text.ts';

/** Says what failed and what to do. Screen readers announce it at once. Nothing without an error. */
export function Problem({ error }: { readonly error: unknown }) {
  const { what, advice } = error === undefined ? {} : failureText(error);
  return (
    <div role="alert">
      {what !== undefined && (
        <div class="problem">
          <p>
            <strong>{what}</strong>
          </p>
          {advice !== undefined && <p>{advice}</p>}
        </div>
      )}
    </div>
  );
}
