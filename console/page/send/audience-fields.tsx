import { countOf } from '../format.ts';
import { useForm } from './form-context.ts';
import { SendField } from './send-field.tsx';
import type { AudienceChoice } from './send-form.ts';

interface AudienceFieldsProps {
  /** Subscribers of the project; undefined until they are known. */
  readonly subscribers: number | undefined;
  readonly hasConditions: boolean;
}

/** To whom the notification goes. */
export function AudienceFields({ subscribers, hasConditions }: AudienceFieldsProps) {
  const { form, change } = useForm();
  const known =
    subscribers === undefined ? 'Everyone' : `Everyone: ${countOf(subscribers, 'subscriber')}`;
  const choices: Record<AudienceChoice, string> = {
    everyone: hasConditions ? 'Everyone who matches “Only some of them”' : known,
    userIds: 'Some users',
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
      {form.to !== 'everyone' && <SendField key={form.to} name={form.to} />}
    </fieldset>
  );
}
