import {
  Button,
  Checkbox,
  Chip,
  Group,
  Input,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { countOf, countText } from '../../../contract/text/text.ts';
import { canonicalTag, channelPattern } from '../../../contract/wire/formats.ts';
import { lookupTag } from '../../../contract/wire/languages.ts';
import { limits } from '../../../contract/wire/limits.ts';
import {
  type AudienceCounts,
  byCount,
  type ProjectResult,
} from '../../../contract/wire/project-result.ts';
import type { FieldName } from '../../../contract/wire/send-fields.ts';
import { useProject } from '../calls.ts';
import { estimateText } from '../format.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../session.ts';
import { Hint } from '../view.tsx';
import { readTable } from './recipients.ts';
import { fieldId, SendField, useIssue } from './send-field.tsx';
import {
  type AudienceChoice,
  linesOf,
  namesIn,
  oddUserIds,
  type SendForm,
  splitUserIds,
  usersField,
} from './send-form.ts';

/** To whom the notification goes. Another choice keeps what was entered for this one. */
export function AudienceFields() {
  const { draft, change } = useSession().writing;
  const { form } = draft;
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
          {!form.isPersonal && <OddUserIds />}
          <Checkbox
            label="Narrow down by channel or last visit"
            checked={form.isNarrowed}
            onChange={(event) => change({ isNarrowed: event.currentTarget.checked })}
          />
          {form.isNarrowed && <Conditions />}
        </>
      )}
    </Stack>
  );
}

/** Lines that may be several user ids, which somebody else has separated in another way. */
function OddUserIds() {
  const { draft, change } = useSession().writing;
  const { userIds } = draft.form;
  const odd = oddUserIds(draft.form);
  if (odd.length === 0) return null;
  const more = odd.length > 1 ? ` So ${odd.length > 2 ? 'are' : 'is'} ${odd.length - 1} more.` : '';
  return (
    <Group gap="xs" role="status" id="odd-users">
      <Hint>
        “<bdi>{odd[0]}</bdi>” is one user id.{more}
      </Hint>
      <Button variant="default" onClick={() => change({ userIds: splitUserIds(userIds) })}>
        Split it
      </Button>
    </Group>
  );
}

/** The most frequent ones have a chip. Others can be entered. */
const mostChips = 12;

/** The channels and the last visit that select a part of the subscribers. */
function Conditions() {
  const { sample, subscribers = 0 } = useProject().data ?? {};
  const { draft, change } = useSession().writing;
  const { form } = draft;
  const chosen = linesOf(form.channels);
  const setChosen = (names: readonly string[]) => change({ channels: names.join('\n') });
  const size = (found?: number) =>
    found !== undefined && sample ? estimateText(found, sample.subscribers, subscribers) : '';
  const counts = new Map(byCount(sample?.channels ?? {}).slice(0, mostChips));
  const channels = [...new Set([...counts.keys(), ...chosen])];
  const visits = Object.entries(sample?.seenWithinDays ?? {}).map(
    ([days, found]) => [days, `Within ${days} days (${size(found)})`] as const,
  );
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
            {channels.map((name) => (
              <Chip key={name} value={name}>
                {name} <small>{size(counts.get(name))}</small>
              </Chip>
            ))}
            <OtherChannel onAdd={(name) => setChosen([...new Set([...chosen, name])])} />
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <SendField
        name="seenWithinDays"
        choices={{ '': 'Any time', ...Object.fromEntries(visits) }}
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
  const [text, setText] = useState('');
  const name = text.trim();
  const isChannel = channelPattern.test(name);
  function add() {
    if (!isChannel) return;
    onAdd(name);
    setText('');
  }
  return (
    <TextInput
      aria-label="Other channel"
      placeholder="Other"
      radius="xl"
      w="9rem"
      leftSection={<Icon name="plus" />}
      error={name !== '' && !isChannel && 'Use lowercase letters, digits and hyphens.'}
      maxLength={limits.channelNameLength}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={add}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        // It would send the form.
        event.preventDefault();
        add();
      }}
    />
  );
}

/** How many a notification is for. */
export interface AudienceSize {
  /** What is known of the number: `about` from a sample, `at most` for several conditions. Empty: it is exact. */
  readonly precision: '' | 'about' | 'at most' | 'at most about';
  /** Such as `2,900`, `everyone`. */
  readonly number: string;
  /** What is counted: `subscribers` or `users`. */
  readonly noun: string;
  /** Part of the subscribers, if it is known. */
  readonly part?: number;
  /** What should be known of the number. */
  readonly note?: string | undefined;
  /** Why it is nobody, if that is sure. */
  readonly nobody?: string | undefined;
}

/** The size of the form's audience, as far as project and sample tell it. */
export function audienceSize(
  form: SendForm,
  { subscribers, sample }: Partial<Pick<ProjectResult, 'subscribers' | 'sample'>> = {},
): AudienceSize {
  if (form.to === 'users') {
    const { recipients, idName } = readTable(form.recipients);
    const ids = form.isPersonal ? recipients.map(({ userId }) => userId) : linesOf(form.userIds);
    const { size } = new Set(ids);
    const repeated = ids.length - size;
    const odd = oddUserIds(form);
    const notes = [
      form.isPersonal && idName !== undefined && `User ids from the column “${idName}”`,
      repeated > 0 && `${countOf(repeated, 'duplicate')} left out`,
      odd.length > 0 && `“${odd[0]}” is one user id`,
    ];
    return {
      ...exactly(size, 'user', size === 0 ? 'Enter the id of a user.' : undefined),
      ...(form.isNarrowed && size > 0 && { precision: 'at most' }),
      note: notes.filter((note) => note).join(', ') || undefined,
    };
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
  const found = Math.min(...parts.map((one = whole) => one), whole);
  const part = found / whole;
  const isSample = whole < subscribers;
  const isMaximum =
    parts.length > 1 ||
    [form.channels, form.locales].some((lines) => linesOf(lines).length > 1) ||
    parts.includes(undefined);
  // None in a sample is not none at all.
  if (part === 0 && isSample) return { precision: '', number: 'a few', noun, part };
  if (part === 0) return exactly(0, 'subscriber', 'No subscriber meets this.');
  const number = estimateText(found, whole, subscribers);
  const precision = isMaximum ? (isSample ? 'at most about' : 'at most') : isSample ? 'about' : '';
  return { precision, number, noun, part };
}

function exactly(count: number, noun: string, nobody?: string): AudienceSize {
  return { precision: '', number: countText(count), noun: count === 1 ? noun : `${noun}s`, nobody };
}

/** How many of the sample meet a condition. Undefined: it does not say. */
function countOfSample(name: FieldName, form: SendForm, sample: AudienceCounts) {
  if (name === 'seenWithinDays') return sample.seenWithinDays[form.seenWithinDays as '7'];
  if (name !== 'channels' && name !== 'locales') return undefined;
  const counts = sample[name];
  const chosen = linesOf(form[name]).map((one) => {
    const tag = name === 'locales' ? canonicalTag(one) : undefined;
    return tag === undefined ? one : lookupTag(tag);
  });
  const isCut = Object.keys(counts).length >= limits.sampled;
  if (isCut && chosen.some((one) => !Object.hasOwn(counts, one))) return undefined;
  return chosen.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
}

/** `about 2,900`, `2 users`, as buttons have it: that they are subscribers is understood. */
export function sizeText(size: AudienceSize, hasNoun = size.noun.startsWith('user')): string {
  const words = [size.precision, size.number, hasNoun ? size.noun : ''];
  return words.filter((word) => word !== '').join(' ');
}
