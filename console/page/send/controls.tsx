import { Field, FieldError, inputAttributes } from '../components/field.tsx';
import { countText } from '../format.ts';
import { type FormField, fieldAt } from './fields.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';

interface CheckFieldProps {
  readonly path: string;
  readonly label: string;
  readonly hint: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** A field that is on or off. */
export function CheckField({ path, label, hint, checked, onChange }: CheckFieldProps) {
  const error = issueAt(useForm().issues, path);
  const id = fieldId(path);
  return (
    <div class="check">
      <input
        {...inputAttributes(id, true, error !== undefined)}
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        <FieldError id={id} error={error} />
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      </div>
    </div>
  );
}

interface TextFieldProps {
  /** Such as `actions[0].title`. */
  readonly path: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field whose value is typed, or chosen from texts. */
export function TextField({ path, value, onChange }: TextFieldProps) {
  const { label, hint, kind, length, rows, placeholder, choices } = fieldAt(path)!;
  const note = length === undefined ? undefined : `${[...value].length} / ${countText(length)}`;
  const error = issueAt(useForm().issues, path);
  const input = {
    value,
    placeholder,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value),
    // User ids, channels and data are no words of a language.
    autocapitalize: kind === 'text' ? undefined : 'none',
    spellcheck: kind === 'text',
  } as const;
  return (
    <Field id={fieldId(path)} label={label} hint={hint} note={note} error={error}>
      {(attributes) => {
        if (choices !== undefined) {
          return (
            <select {...attributes} value={value} onChange={input.onInput}>
              <option value="">Default</option>
              {Object.entries(choices).map(([choice, text]) => (
                <option key={choice} value={choice}>
                  {text}
                </option>
              ))}
            </select>
          );
        }
        if (rows !== undefined) return <textarea {...attributes} {...input} rows={rows} />;
        return (
          <input
            {...attributes}
            {...input}
            // Preact's types have another set of attributes for each type of input.
            type={(inputTypes[kind] ?? 'text') as 'text'}
            inputMode={kind === 'number' ? 'numeric' : undefined}
            autocomplete="off"
          />
        );
      }}
    </Field>
  );
}

const inputTypes: Readonly<Partial<Record<FormField['kind'], string>>> = {
  url: 'url',
  time: 'datetime-local',
};
