import { limits } from '../../../contract/limits.ts';
import { shareSizes } from '../../../contract/share-sizes.ts';
import { countText } from '../format.ts';
import { ActionFields } from './action-fields.tsx';
import { AudienceFields } from './audience-fields.tsx';
import { useForm } from './form-context.ts';
import { OptionGroup } from './option-group.tsx';
import { CheckField, ChoiceField, FlagField, TextField } from './send-fields.tsx';

interface SendFormFieldsProps {
  readonly subscribers: number | undefined;
  /** Whether the service responds before the delivery. */
  readonly respondAsync: boolean;
}

/** Every option of send. */
export function SendFormFields({ subscribers, respondAsync }: SendFormFieldsProps) {
  const { change } = useForm();
  return (
    <>
      <TextField name="title" label="Title" length={limits.titleLength} />
      <TextField name="body" label="Body" length={limits.bodyLength} rows={3} />
      <TextField name="url" label="URL" type="url" placeholder="https://" />
      <AudienceFields subscribers={subscribers} />
      <OptionGroup title="Only some of them" names={['channels', 'seenWithinDays']}>
        <TextField name="channels" label="Channels, one per line" rows={2} />
        <TextField name="seenWithinDays" label="Seen within (days)" inputMode="numeric" />
      </OptionGroup>
      <OptionGroup title="Images" names={['icon', 'image', 'badge']}>
        <TextField name="icon" label="Icon URL" type="url" />
        <TextField name="image" label="Image URL" type="url" />
        <TextField name="badge" label="Badge URL" type="url" />
      </OptionGroup>
      <OptionGroup title="Buttons" names={['actions']}>
        <ActionFields />
      </OptionGroup>
      <OptionGroup
        title="Display"
        names={[
          'tag',
          'renotify',
          'requireInteraction',
          'silent',
          'lang',
          'dir',
          'timestamp',
          'appBadge',
        ]}
      >
        <TextField name="tag" label="Tag" length={limits.tagLength} />
        <FlagField name="renotify" label="Alert again" />
        <FlagField name="requireInteraction" label="Require interaction" />
        <FlagField name="silent" label="Silent" />
        <TextField name="lang" label="Language" placeholder="en" />
        <ChoiceField name="dir" label="Direction of the text" choices={['auto', 'ltr', 'rtl']} />
        <TextField name="timestamp" label="Time of the event" type="datetime-local" />
        <TextField name="appBadge" label="App badge" inputMode="numeric" />
      </OptionGroup>
      <OptionGroup title="Delivery" names={['ttl', 'urgency', 'topic', 'worker', 'respondAsync']}>
        <TextField name="ttl" label="Time to live (seconds)" inputMode="numeric" />
        <ChoiceField
          name="urgency"
          label="Urgency"
          choices={['very-low', 'low', 'normal', 'high']}
        />
        <TextField name="topic" label="Topic" length={limits.topicLength} />
        <FlagField name="worker" label="Handled by the service worker" />
        <CheckField
          path="respondAsync"
          label="Respond before the delivery"
          checked={respondAsync}
          onChange={(checked) => change({ respondAsync: checked })}
        >
          {`Prefer: respond-async. The delivery then takes as long as it needs. For more than ${countText(shareSizes.recipients)} subscribers.`}
        </CheckField>
      </OptionGroup>
      <OptionGroup title="Data" names={['data']}>
        <TextField name="data" label="Data (JSON object)" rows={4} />
      </OptionGroup>
    </>
  );
}
