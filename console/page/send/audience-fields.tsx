import { Chip, Group, NativeSelect, Radio, Stack, TagsInput, Text } from '@mantine/core';
import { countOf, countText } from '../../../contract/count-text.ts';
import { channelsByCount } from '../../../contract/schemas/project.ts';
import { useProject } from '../calls/queries.ts';
import { audienceSizeText } from './audience-size.ts';
import { fields, namesIn } from './fields.ts';
import { fieldId, issueAt, useForm } from './form-context.ts';
import { SendField } from './send-field.tsx';
import { type AudienceChoice, linesOf } from './send-form.ts';

const choices: Readonly<Record<AudienceChoice, string>> = {
  everyone: 'Everyone, or a part of them',
  userIds: 'Some users',
  recipients: 'Some users, each with a text of their own',
};

/** To whom the notification goes, and how many that is. */
export function AudienceFields() {
  const { form, change } = useForm();
  const { data: project } = useProject();
  return (
    <Stack gap="sm">
      <Radio.Group
        label="To whom?"
        value={form.to}
        onChange={(to) => change({ to: to as AudienceChoice })}
      >
        <Stack gap="xs" mt="xs">
          {(Object.keys(choices) as AudienceChoice[]).map((to) => (
            <Radio key={to} value={to} label={choices[to]} />
          ))}
        </Stack>
      </Radio.Group>
      {form.to !== 'everyone' && <SendField key={form.to} name={form.to} />}
      <Conditions />
      <Text id="audience-size" role="status" fw={600}>
        Goes to {audienceSizeText(form, project?.subscribers, project?.sample)}.
      </Text>
    </Stack>
  );
}

/** The channels and the last visit that select a part of them. */
function Conditions() {
  const { sample, subscribers = 0 } = useProject().data ?? {};
  const { form, change, issues } = useForm();
  const chosen = linesOf(form.channels);
  const setChosen = (names: readonly string[]) => change({ channels: names.join('\n') });
  const size = (found: number) =>
    sample !== undefined && sample.subscribers > 0
      ? countText(Math.round((found / sample.subscribers) * subscribers))
      : '';
  const channels = sample === undefined ? [] : channelsByCount(sample);
  const counted = Object.entries(sample?.seenWithinDays ?? {}).map(([days, found]) => ({
    value: days,
    label: `Within ${days} days: ${size(found)}`,
  }));
  const days = form.seenWithinDays;
  const isOther = days !== '' && counted.every(({ value }) => value !== days);
  return (
    <>
      {channels.length > 0 && (
        <Chip.Group multiple value={[...chosen]} onChange={setChosen}>
          <Group gap="xs" role="group" aria-label="Channels of your subscribers">
            {channels.slice(0, 12).map(([name, found]) => (
              <Chip key={name} value={name} variant="outline">
                {name} {size(found)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
      <TagsInput
        id={fieldId('channels')}
        label={fields.channels.label}
        description="Only browsers with at least one of them. Empty: all."
        error={issueAt(issues, 'channels')}
        value={[...chosen]}
        onChange={setChosen}
        acceptValueOnBlur
      />
      <NativeSelect
        id={fieldId('seenWithinDays')}
        label="Last visit"
        error={issueAt(issues, 'seenWithinDays')}
        value={days}
        onChange={(event) => change({ seenWithinDays: event.currentTarget.value })}
        data={[
          { value: '', label: 'Any time' },
          ...counted,
          ...(isOther ? [{ value: days, label: `Within ${countOf(Number(days), 'day')}` }] : []),
        ]}
      />
      {namesIn('Only some of them')
        .filter((name) => name !== 'channels' && name !== 'seenWithinDays')
        .map((name) => (
          <SendField key={name} name={name} />
        ))}
    </>
  );
}
