import { countOf } from '../format.ts';
import { useForm } from './form-context.ts';
import { SendField } from './send-fields.tsx';
import type { AudienceChoice } from './send-form.ts';

/** To whom the notification goes. @param subscribers of the project; undefined until it is known. */
export function AudienceFields({ subscribers }: { readonly subscribers: number | undefined }) {
  const { form, change } = useForm();
  const everyone =
    subscribers === undefined ? 'Everyone' : `Everyone: ${countOf(subscribers, 'subscriber')}`;
  const choices: Record<AudienceChoice, string> = {
    everyone,
    users: 'Some users',
    recipients: 'Some users, each with a text of their own',
  };
  return (
    <fieldset class="audience">
      <legend>To</legend>
      <div class="choices">
        {(Object.keys(choices) as AudienceChoice[]).map((to) => (
          <label key={to}>
            <input
              type="radio"
              name="to"
              value={to}
              checked={form.to === to}
              onChange={() => change({ to })}
            />
            {choices[to]}
          </label>
        ))}
      </div>
      {form.to === 'users' && <IdsField path="userIds" label="User ids, one per line" />}
      {form.to === 'recipients' && (
        <IdsField
          path="recipients"
          label="Recipients, a table with names in the first line"
          placeholder={'userId,name,order\nada,Ada,1042'}
        />
      )}
    </fieldset>
  );
}

interface IdsFieldProps {
  readonly path: 'userIds' | 'recipients';
  readonly label: string;
  readonly placeholder?: string;
}

/** A field with a user id in each line. */
function IdsField({ path, label, placeholder }: IdsFieldProps) {
  const { form, change } = useForm();
  return (
    <SendField path={path} label={label}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={3}
          autocapitalize="none"
          spellcheck={false}
          placeholder={placeholder}
          value={form[path]}
          onInput={(event) => change({ [path]: event.currentTarget.value })}
        />
      )}
    </SendField>
  );
}
