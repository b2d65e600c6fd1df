import { limits } from '../../../contract/limits.ts';
import { FieldError } from '../components/field.tsx';
import { TextField } from './controls.tsx';
import { buttonFields, fields } from './fields.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';
import { type ButtonForm, emptyButton } from './send-form.ts';

/** The buttons of the notification. */
export function ButtonFields() {
  const { form, change, issues } = useForm();
  const { actions } = form;
  const ofAll = issues.filter(({ path }) => path === 'actions');
  const setAction = (index: number, changes: Partial<ButtonForm>) =>
    change({
      actions: actions.map((action, at) => (at === index ? { ...action, ...changes } : action)),
    });
  return (
    <>
      <p class="hint">{fields.actions.hint}</p>
      <FieldError id={fieldId('actions')} error={issueAt(ofAll, 'actions')} />
      {actions.map((action, index) => (
        <fieldset key={index}>
          <legend>Button {index + 1}</legend>
          {(Object.keys(buttonFields) as (keyof ButtonForm)[]).map((name) => (
            <TextField
              key={name}
              path={`actions[${index}].${name}`}
              value={action[name]}
              onChange={(text) => setAction(index, { [name]: text })}
            />
          ))}
          <button
            type="button"
            onClick={() => {
              change({ actions: actions.filter((_, at) => at !== index) });
              // The pressed button is gone.
              document.getElementById(addButtonId)?.focus();
            }}
          >
            Remove button {index + 1}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        id={addButtonId}
        aria-disabled={actions.length >= limits.actions}
        onClick={() => {
          if (actions.length < limits.actions) change({ actions: [...actions, emptyButton] });
        }}
      >
        Add a button
      </button>
    </>
  );
}

const addButtonId = 'add-action';
