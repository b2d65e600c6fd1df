import type { ComponentChildren, JSX } from 'preact';

interface FieldProps {
  /** Of the input; unique on the page. */
  readonly id: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  /** Beside the label, such as how many characters are used. */
  readonly note?: string | undefined;
  /** The input, with these attributes. */
  readonly children: (attributes: InputAttributes) => JSX.Element;
}

export interface InputAttributes {
  readonly id: string;
  readonly 'aria-describedby'?: string | undefined;
  readonly 'aria-invalid'?: true | undefined;
}

/** A label, an input, its hint and its error. The last two describe the input for screen readers. */
export function Field({ id, label, hint, error, note, children }: FieldProps) {
  return (
    <div class="field">
      <div class="field-label">
        <label for={id}>{label}</label>
        {note !== undefined && (
          <span class="note" aria-hidden="true">
            {note}
          </span>
        )}
      </div>
      {children(inputAttributes(id, hint !== undefined, error !== undefined))}
      <FieldError id={id} error={error} />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function inputAttributes(id: string, hasHint: boolean, hasError: boolean): InputAttributes {
  const describedBy = [hasError && `${id}-error`, hasHint && `${id}-hint`]
    .filter(Boolean)
    .join(' ');
  return {
    id,
    ...(describedBy !== '' && { 'aria-describedby': describedBy }),
    ...(hasError && { 'aria-invalid': true }),
  };
}

export function FieldError({
  id,
  error,
}: {
  readonly id: string;
  readonly error: string | undefined;
}) {
  return error === undefined ? null : (
    <p class="field-error" id={`${id}-error`}>
      {error}
    </p>
  );
}
