import { limits } from '../../../contract/limits.ts';
import { FieldError } from '../components/field.tsx';
import { InlineMarkdown } from '../components/inline-markdown.tsx';
import { fieldFacts } from './field-facts.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';
import { SendField } from './send-fields.tsx';
import { type ActionForm, emptyAction } from './send-form.ts';

const labels: Readonly<Record<keyof ActionForm, string>> = {
  title: 'Text',
  action: 'Name',
  url: 'URL',
  icon: 'Icon URL',
};

/** The buttons of the notification. */
export function ActionFields() {
  const { form, change, issues } = useForm();
  const { actions } = form;
  const ofAll = issues.filter(({ path }) => path === 'actions');
  const setAction = (index: number, changes: Partial<ActionForm>) =>
    change({
      actions: actions.map((action, at) => (at === index ? { ...action, ...changes } : action)),
    });
  return (
    <>
      <p class="hint">
        <InlineMarkdown text={fieldFacts.get('actions') ?? ''} />
      </p>
      <FieldError id={fieldId('actions')} error={issueAt(ofAll, 'actions', 'Buttons')} />
      {actions.map((action, index) => (
        <fieldset key={index}>
          <legend>Button {index + 1}</legend>
          {(Object.keys(labels) as (keyof ActionForm)[]).map((name) => (
            <SendField key={name} path={`actions.${index}.${name}`} label={labels[name]}>
              {(attributes) => (
                <input
                  {...attributes}
                  autocomplete="off"
                  value={action[name]}
                  onInput={(event) => setAction(index, { [name]: event.currentTarget.value })}
                />
              )}
            </SendField>
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
          if (actions.length < limits.actions) change({ actions: [...actions, emptyAction] });
        }}
      >
        Add a button
      </button>
    </>
  );
}

const addButtonId = 'add-action';
