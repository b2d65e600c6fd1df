import {
  Button,
  Checkbox,
  Fieldset,
  NativeSelect,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { countText } from '../../../contract/count-text.ts';
import { limits } from '../../../contract/limits.ts';
import { buttonFields, type FieldName, fieldAt, fields } from './fields.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';
import { type ButtonForm, emptyButton } from './send-form.ts';

/** The control of a field of send, as the table of fields describes it. */
export function SendField({ name }: { readonly name: FieldName }) {
  const { form, change, issues } = useForm();
  const { label, hint } = fields[name];
  const value = form[name];
  if (typeof value === 'string') {
    return <TextField path={name} value={value} onChange={(text) => change({ [name]: text })} />;
  }
  if (typeof value !== 'boolean') return <ButtonFields />;
  return (
    <Checkbox
      id={fieldId(name)}
      label={label}
      description={hint}
      error={issueAt(issues, name)}
      checked={value}
      onChange={(event) => change({ [name]: event.currentTarget.checked })}
    />
  );
}

interface TextFieldProps {
  /** Such as `actions[0].title`. */
  readonly path: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const inputTypes: Readonly<Record<string, string>> = { url: 'url', time: 'datetime-local' };

/** A field whose value is typed, or chosen from texts. */
function TextField({ path, value, onChange }: TextFieldProps) {
  const { label, hint, kind, length, rows, placeholder, choices } = fieldAt(path)!;
  const used = length === undefined ? '' : ` ${[...value].length} of ${countText(length)}.`;
  const shared = {
    id: fieldId(path),
    label,
    description: `${hint}${used}`,
    error: issueAt(useForm().issues, path),
    value,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value),
  };
  // User ids, channels and data are no words of a language.
  const isProse = kind === 'text';
  const typed = {
    ...shared,
    placeholder,
    autoComplete: 'off',
    spellCheck: isProse,
    autoCapitalize: isProse ? undefined : 'none',
  };
  if (choices !== undefined) {
    const data = Object.entries(choices).map(([choice, text]) => ({ value: choice, label: text }));
    return <NativeSelect {...shared} data={[{ value: '', label: 'Default' }, ...data]} />;
  }
  if (rows !== undefined)
    return <Textarea {...typed} rows={rows} autosize minRows={rows} maxRows={12} />;
  return (
    <TextInput
      {...typed}
      type={inputTypes[kind] ?? 'text'}
      inputMode={kind === 'number' ? 'numeric' : undefined}
    />
  );
}

const addButtonId = 'add-action';

/** The buttons of the notification. */
function ButtonFields() {
  const { form, change, issues } = useForm();
  const { actions } = form;
  const issue = issueAt(
    issues.filter(({ path }) => path === 'actions'),
    'actions',
  );
  const setAction = (index: number, changes: Partial<ButtonForm>) =>
    change({
      actions: actions.map((action, at) => (at === index ? { ...action, ...changes } : action)),
    });
  return (
    <Stack gap="sm" align="start">
      <Text size="sm" c="dimmed">
        {fields.actions.hint}
      </Text>
      {issue !== undefined && (
        <Text
          size="sm"
          c="var(--mantine-color-error)"
          id={fieldId('actions')}
          aria-invalid
          tabIndex={-1}
        >
          {issue}
        </Text>
      )}
      {actions.map((action, index) => (
        <Fieldset key={index} legend={`Button ${index + 1}`} w="100%">
          <Stack gap="sm" align="stretch">
            {(Object.keys(buttonFields) as (keyof ButtonForm)[]).map((name) => (
              <TextField
                key={name}
                path={`actions[${index}].${name}`}
                value={action[name]}
                onChange={(text) => setAction(index, { [name]: text })}
              />
            ))}
            <Button
              variant="default"
              onClick={() => {
                change({ actions: actions.filter((_, at) => at !== index) });
                // The pressed button is gone.
                document.getElementById(addButtonId)?.focus();
              }}
            >
              Remove button {index + 1}
            </Button>
          </Stack>
        </Fieldset>
      ))}
      <Button
        variant="default"
        id={addButtonId}
        aria-disabled={actions.length >= limits.actions}
        onClick={() => {
          if (actions.length < limits.actions) change({ actions: [...actions, emptyButton] });
        }}
      >
        Add a button
      </Button>
    </Stack>
  );
}
