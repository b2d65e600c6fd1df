import { countOf } from '../format.ts';
import { useForm } from './form-context.ts';
import { SendField, TextField } from './send-fields.tsx';

/** To whom the notification goes. @param subscribers of the project; undefined until it is known. */
export function AudienceFields({ subscribers }: { readonly subscribers: number | undefined }) {
  const { form, change } = useForm();
  const everyone =
    subscribers === undefined ? 'Everyone' : `Everyone: ${countOf(subscribers, 'subscriber')}`;
  const choices = { everyone, users: 'Some users' } as const;
  return (
    <fieldset class="audience">
      <legend>To</legend>
      <div class="choices">
        {(['everyone', 'users'] as const).map((to) => (
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
      {form.to === 'users' && (
        <SendField path="userIds" label="User ids, one per line">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={3}
              autocapitalize="none"
              spellcheck={false}
              value={form.userIds}
              onInput={(event) => change({ userIds: event.currentTarget.value })}
            />
          )}
        </SendField>
      )}
      <TextField name="channels" label="Channels, one per line" rows={2} />
      <TextField name="seenWithinDays" label="Seen within (days)" inputMode="numeric" />
    </fieldset>
  );
}
