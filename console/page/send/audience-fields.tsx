import {
  Anchor,
  Button,
  Checkbox,
  Chip,
  Group,
  Input,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { countOf, countText } from '../../../contract/text/text.ts';
import { channelPattern } from '../../../contract/wire/formats.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { type AudienceCounts, channelsByCount } from '../../../contract/wire/project-result.ts';
import type { FieldName } from '../../../contract/wire/send-fields.ts';
import { useProject } from '../calls.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../session.ts';
import { fieldId, SendField, useIssue } from './send-field.tsx';
import {
  type AudienceChoice,
  fields,
  linesOf,
  namesIn,
  recipientsOf,
  type SendForm,
  usersField,
} from './send-form.ts';

/** To whom the notification goes. Another choice keeps what was entered for this one. */
export function AudienceFields() {
  const { draft: form, change } = useSession();
  const { data: project } = useProject();
  const choices: Readonly<Record<AudienceChoice, readonly [name: string, hint: string]>> = {
    everyone: ['Everyone', project ? countOf(project.subscribers, 'subscriber') : ''],
    some: ['Some subscribers', 'By channel or last visit'],
    users: ['Certain users', 'By user id'],
  };
  return (
    <Stack gap="md">
      <Radio.Group
        aria-label="Audience"
        value={form.to}
        onChange={(to) => change({ to: to as AudienceChoice })}
      >
        <SimpleGrid type="container" cols={{ base: 1, '34rem': 3 }} spacing="xs">
          {Object.entries(choices).map(([to, [name, hint]]) => (
            <Radio.Card key={to} value={to} p="sm" tabIndex={to === form.to ? 0 : -1}>
              <Group component="span" justify="space-between" wrap="nowrap" fw={500}>
                {name}
                {to === form.to && <Icon name="tick" />}
              </Group>
              <Text component="span" fz="hint" c="var(--faint)">
                {hint}
              </Text>
            </Radio.Card>
          ))}
        </SimpleGrid>
      </Radio.Group>
      {form.to === 'some' && <Conditions />}
      {form.to === 'users' && (
        <>
          <Checkbox
            label="A text for each user"
            checked={form.isPersonal}
            onChange={(event) => change({ isPersonal: event.currentTarget.checked })}
          />
          <SendField key={usersField(form)} name={usersField(form)} />
          <Anchor
            component="button"
            type="button"
            style={{ alignSelf: 'start' }}
            aria-expanded={form.isNarrowed}
            onClick={() => change({ isNarrowed: !form.isNarrowed })}
          >
            {form.isNarrowed ? 'Do not narrow down' : 'Narrow down'}
          </Anchor>
          {form.isNarrowed && <Conditions />}
        </>
      )}
    </Stack>
  );
}

/** The most frequent ones have a chip. Others can be entered. */
const mostChips = 12;

/** The channels and the last visit that select a part of the subscribers. */
function Conditions() {
  const { sample, subscribers = 0 } = useProject().data ?? {};
  const { draft, change } = useSession();
  const chosen = linesOf(draft.channels);
  const setChosen = (names: readonly string[]) => change({ channels: names.join('\n') });
  const size = (found: number) =>
    sample !== undefined && sample.subscribers > 0
      ? countText(Math.round((found / sample.subscribers) * subscribers))
      : '';
  const counts = new Map(sample === undefined ? [] : channelsByCount(sample).slice(0, mostChips));
  const channels = [...new Set([...counts.keys(), ...chosen])];
  const counted = Object.entries(sample?.seenWithinDays ?? {}).map(([days, found]) => ({
    value: days,
    label: `Within ${days} days (${size(found)})`,
  }));
  const days = draft.seenWithinDays;
  const isOther = days !== '' && counted.every(({ value }) => value !== days);
  const issue = useIssue('channels');
  return (
    <>
      <Input.Wrapper
        labelElement="div"
        label="With any of these channels"
        error={issue}
        id={fieldId('channels')}
        data-invalid={issue !== undefined || undefined}
        tabIndex={-1}
      >
        <Chip.Group multiple value={[...chosen]} onChange={setChosen}>
          <Group gap="xs" role="group" aria-label="Channels">
            {channels.map((name) => {
              const count = counts.get(name);
              return (
                <Chip key={name} value={name}>
                  {name} <small>{count !== undefined && size(count)}</small>
                </Chip>
              );
            })}
            <OtherChannel onAdd={(name) => setChosen([...new Set([...chosen, name])])} />
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <NativeSelect
        id={fieldId('seenWithinDays')}
        label={fields.seenWithinDays.label}
        error={useIssue('seenWithinDays')}
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

/** Adds a channel that has no chip. */
function OtherChannel({ onAdd }: { onAdd: (name: string) => void }) {
  const [text, setText] = useState<string>();
  const [error, setError] = useState<string>();
  if (text === undefined) {
    return (
      <Button
        variant="default"
        radius="xl"
        leftSection={<Icon name="plus" />}
        onClick={() => setText('')}
      >
        Other
      </Button>
    );
  }
  function add(name: string) {
    const isChannel = channelPattern.test(name);
    if (isChannel) onAdd(name);
    if (isChannel || name === '') setText(undefined);
    else setError('Use lowercase letters, digits and hyphens.');
  }
  return (
    <TextInput
      aria-label="Other channel"
      placeholder="Name of a channel"
      error={error}
      autoFocus
      maxLength={limits.channelNameLength}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => add(text.trim())}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        // It would send the form.
        event.preventDefault();
        add(text.trim());
      }}
    />
  );
}

/** How many a notification is for. */
export interface AudienceSize {
  /** What is known of the number: `about` from a sample, `up to` for several conditions. Empty: it is exact. */
  readonly precision: '' | 'about' | 'up to';
  /** Such as `2,900`, `everyone`. */
  readonly number: string;
  /** What is counted: `subscribers` or `users`. */
  readonly noun: string;
  /** Part of the subscribers, if it is known. */
  readonly part?: number;
  /** Why it is nobody, if that is sure. */
  readonly nobody?: string | undefined;
}

/** The size of the form's audience, as far as project and sample tell it. */
export function audienceSize(
  form: SendForm,
  subscribers: number | undefined,
  sample: AudienceCounts | undefined,
): AudienceSize {
  if (form.to === 'users') {
    const { length } = form.isPersonal ? recipientsOf(form.recipients) : linesOf(form.userIds);
    return exactly(length, 'user', length === 0 ? 'Enter the id of a user.' : undefined);
  }
  if (subscribers === 0) return exactly(0, 'subscriber', 'Nobody is subscribed yet.');
  if (form.to === 'everyone') {
    if (subscribers === undefined) return { precision: '', number: 'everyone', noun: '' };
    return { ...exactly(subscribers, 'subscriber'), part: 1 };
  }
  const given = namesIn('Only some of them').filter((name) => String(form[name]).trim() !== '');
  if (given.length === 0) return exactly(0, 'subscriber', 'Choose a channel or a last visit.');
  const noun = subscribers === 1 ? 'subscriber' : 'subscribers';
  if (subscribers === undefined || sample === undefined || sample.subscribers === 0) {
    return { precision: '', number: 'some', noun };
  }
  const whole = sample.subscribers;
  const parts = given.map((name) => countOfSample(name, form, sample));
  const part = Math.min(...parts.map((found = whole) => found), whole) / whole;
  const isSample = whole < subscribers;
  const isMaximum =
    parts.length > 1 || linesOf(form.channels).length > 1 || parts.includes(undefined);
  // None in a sample is not none at all.
  if (part === 0 && isSample) return { precision: '', number: 'a few', noun, part };
  if (part === 0) return exactly(0, 'subscriber', 'No subscriber meets this.');
  const number = countText(Math.round(part * subscribers));
  return { precision: isMaximum ? 'up to' : isSample ? 'about' : '', number, noun, part };
}

function exactly(count: number, noun: string, nobody?: string): AudienceSize {
  return { precision: '', number: countText(count), noun: count === 1 ? noun : `${noun}s`, nobody };
}

/** How many of the sample meet a condition. Undefined: it does not say. */
function countOfSample(name: FieldName, form: SendForm, sample: AudienceCounts) {
  if (name === 'seenWithinDays') return sample.seenWithinDays[form.seenWithinDays as '7'];
  if (name !== 'channels') return undefined;
  return linesOf(form.channels).reduce((sum, one) => sum + (sample.channels[one] ?? 0), 0);
}

/** `about 2,900`, `2 users`, as buttons have it: that they are subscribers is understood. */
export function sizeText(size: AudienceSize, hasNoun = size.noun.startsWith('user')): string {
  const words = [size.precision, size.number, hasNoun ? size.noun : ''];
  return words.filter((word) => word !== '').join(' ');
}
