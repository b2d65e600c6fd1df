import type { JSX } from 'preact';
import { Field, FieldError, type InputAttributes, inputAttributes } from '../components/field.tsx';
import { InlineMarkdown } from '../components/inline-markdown.tsx';
import { countText } from '../format.ts';
import { fieldFacts } from './field-facts.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';
import type { FlagName, TextName } from './send-form.ts';

interface TextFieldProps {
  readonly name: TextName;
  readonly label: string;
  /** The most characters, of which the used ones are shown. */
  readonly length?: number;
  readonly rows?: number;
  readonly type?: 'text' | 'url' | 'datetime-local';
  readonly inputMode?: 'numeric';
  readonly placeholder?: string;
}

/** A field of the form with a text. The API reference's sentence on it is its hint. */
export function TextField({ name, label, length, rows, type = 'text', ...input }: TextFieldProps) {
  const { form, change } = useForm();
  const note =
    length === undefined ? undefined : `${[...form[name]].length} / ${countText(length)}`;
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }) =>
    change({ [name]: currentTarget.value });
  return (
    <SendField path={name} label={label} note={note}>
      {(attributes) =>
        rows === undefined ? (
          <input
            {...attributes}
            {...input}
            // Preact's types have another set of attributes for each type of input.
            type={type as 'text'}
            autocomplete="off"
            value={form[name]}
            onInput={onInput}
          />
        ) : (
          <textarea {...attributes} rows={rows} value={form[name]} onInput={onInput} />
        )
      }
    </SendField>
  );
}

interface ChoiceFieldProps {
  readonly name: TextName;
  readonly label: string;
  readonly choices: readonly string[];
}

/** A field with a choice of texts; the first choice leaves it out. */
export function ChoiceField({ name, label, choices }: ChoiceFieldProps) {
  const { form, change } = useForm();
  return (
    <SendField path={name} label={label}>
      {(attributes) => (
        <select
          {...attributes}
          value={form[name]}
          onChange={(event) => change({ [name]: event.currentTarget.value })}
        >
          <option value="">Default</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </SendField>
  );
}

/** A field that is on or off. */
export function FlagField({ name, label }: { readonly name: FlagName; readonly label: string }) {
  const { form, change, issues } = useForm();
  return (
    <CheckField
      path={name}
      label={label}
      error={issueAt(issues, name, `“${label}”`)}
      checked={form[name]}
      onChange={(checked) => change({ [name]: checked })}
    >
      <InlineMarkdown text={fieldFacts.get(name) ?? ''} />
    </CheckField>
  );
}

interface CheckFieldProps {
  readonly path: string;
  readonly label: string;
  readonly error?: string | undefined;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  /** The hint. */
  readonly children: JSX.Element | string;
}

export function CheckField({ path, label, error, checked, onChange, children }: CheckFieldProps) {
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
          {children}
        </p>
      </div>
    </div>
  );
}

interface SendFieldProps {
  /** Such as `actions.0.title`. */
  readonly path: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly children: (attributes: InputAttributes) => JSX.Element;
}

/** A field of the form, with the hint of the API reference and the issue that the contract finds. */
export function SendField({ path, label, note, children }: SendFieldProps) {
  const { issues } = useForm();
  const fact = fieldFacts.get(path.replace(/\.\d+/, '[]')) ?? '';
  return (
    <Field
      id={fieldId(path)}
      label={label}
      note={note}
      error={issueAt(issues, path, label)}
      hint={<InlineMarkdown text={fact} />}
    >
      {children}
    </Field>
  );
}
