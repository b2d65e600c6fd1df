import {
  Box,
  Button,
  Checkbox,
  NativeSelect,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { createContext, type ReactNode, useContext, useRef } from 'react';
import { countText } from '../../../contract/text/text.ts';
import type { Issue } from '../../../contract/wire/errors.ts';
import { canonicalTag } from '../../../contract/wire/formats.ts';
import { lookupTag } from '../../../contract/wire/languages.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { byCount } from '../../../contract/wire/project-result.ts';
import type { FieldName } from '../../../contract/wire/send-fields.ts';
import { useProject } from '../calls.ts';
import { estimateText } from '../format.ts';
import { useSession } from '../session.ts';
import { Hint } from '../view.tsx';
import {
  type ButtonForm,
  emptyButton,
  emptyTranslation,
  fieldAt,
  fields,
  languageName,
  type TranslationForm,
  translatedNames,
} from './send-form.ts';

/** What is wrong with the form. Empty until the first attempt to send. */
export const IssuesContext = createContext<readonly Issue[]>([]);

/** What is wrong with a field, in a sentence. */
export const useIssue = (path: string) => issueAt(useContext(IssuesContext), path);

/**
 * The sentence on what is wrong with a field, by its label, and with those of the fields that it names. A message that
 * begins with a capital says by itself what to do.
 * @param path of the field, such as `actions[0].title`. Finds the issues of its members too.
 */
export function issueAt(issues: readonly Issue[], path: string): string | undefined {
  const issue = issues.find(
    (one) => one.path === path || ['.', '['].some((next) => one.path.startsWith(path + next)),
  );
  if (issue === undefined) return undefined;
  if (/^[A-Z]/.test(issue.message)) return `${issue.message}.`;
  // The position tells which user id or recipient is meant, and the last name which of its values.
  const [position, ...members] = issue.path.slice(path.length + 1).split(/\]?\./);
  // A table has its names in the first row.
  const [what, first] = path === 'recipients' ? ['row', 2] : ['line', 1];
  const placeOf = (index: string) => `${what} ${Number.parseInt(index, 10) + first}`;
  const line = position ? ` in ${placeOf(position)}` : '';
  const member = members.length > 0 ? `: ${members.at(-1)}` : '';
  const text = issue.message.replace(/recipients\[(\d+)\]/g, (_, index: string) => placeOf(index));
  const message = text.replace(/"([\w.[\]]+)"/g, (quoted, named: string) => {
    const other = fieldAt(named === 'action' ? `${path}[0].action` : named);
    return other === undefined ? quoted : `“${other.label}”`;
  });
  return `${fieldAt(path)!.label}${line}${member} ${message}.`;
}

/** The id of the input of a field. */
export function fieldId(path: string): string {
  return `send-${path.replace(/[.[\]]+/g, '-')}`;
}

/** Fields that belong together. */
export const Fields = ({ legend, children }: { legend: string; children: ReactNode }) => (
  <fieldset>
    <Text component="legend" fw={500} mb="xs">
      {legend}
    </Text>
    <Stack>{children}</Stack>
  </fieldset>
);

/** The control of a field of send, as the table of fields describes it. */
export function SendField({ name, choices }: { name: FieldName; choices?: Choices }) {
  const { draft, change } = useSession().writing;
  const { label, hint } = fields[name];
  const issue = useIssue(name);
  const { translations, actions, [name]: value } = draft.form;
  if (typeof value === 'string') {
    const set = (text: string) => change({ [name]: text });
    return <TextField path={name} value={value} onChange={set} choices={choices} />;
  }
  if (name === 'translations') return <TranslationFields entries={translations} />;
  if (typeof value !== 'boolean') return <ButtonFields entries={actions} />;
  return (
    <Checkbox
      id={fieldId(name)}
      label={label}
      description={hint}
      error={issue}
      checked={value}
      onChange={(event) => change({ [name]: event.currentTarget.checked })}
    />
  );
}

type Choices = Readonly<Record<string, string>>;

interface TextFieldProps {
  /** Such as `actions[0].title`. */
  readonly path: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** In place of those of the field. */
  readonly choices?: Choices | undefined;
}

const inputTypes: Readonly<Record<string, string>> = { url: 'url', time: 'datetime-local' };

/** A field whose value is typed, or chosen from texts. */
function TextField({ path, value, onChange, ...given }: TextFieldProps) {
  const { label, hint, kind, max, format, lines, placeholder, unit, isRequired, ...field } =
    fieldAt(path)!;
  const choices = given.choices ?? field.choices;
  const isProse = kind === 'text';
  const used = isProse && format === undefined && `${[...value].length} of ${countText(max!)}`;
  const note = used || (kind === 'url' && !isRequired && 'optional');
  const shared = {
    id: fieldId(path),
    label,
    description: (hint || note) && (
      <>
        {hint}
        <Box component="span" pos="absolute" top={2} right={0}>
          {note}
        </Box>
      </>
    ),
    error: useIssue(path),
    value,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value),
  };
  if (choices !== undefined) {
    const known = new Map([['', 'Default'], ...Object.entries(choices)]);
    known.set(value, known.get(value) ?? `${value} ${unit}`);
    const data = Array.from(known, ([value, label]) => ({ value, label }));
    return <NativeSelect {...shared} data={data} />;
  }
  const prose = { spellCheck: true, autoCapitalize: 'sentences', dir: 'auto' };
  const typed = { ...shared, pos: 'relative', placeholder, ...(isProse && prose) } as const;
  if (lines !== undefined)
    return <Textarea {...typed} rows={lines} autosize minRows={lines} maxRows={12} />;
  return (
    <TextInput
      {...typed}
      type={inputTypes[kind] ?? 'text'}
      inputMode={kind === 'number' ? 'numeric' : undefined}
    />
  );
}

interface EntriesProps<Entry> {
  readonly name: 'actions' | 'translations';
  readonly entries: readonly Entry[];
  /** An entry that is added. */
  readonly added: () => Entry;
  readonly addText: string;
  readonly legendOf: (entry: Entry, number: number) => string;
  /** The fields of an entry. */
  readonly children: (
    entry: Entry,
    set: (changes: Partial<Entry>) => void,
    index: number,
  ) => ReactNode;
}

/** A field with several entries, each with its own fields. */
function Entries<Entry>({ name, entries, children, ...rest }: EntriesProps<Entry>) {
  const { change } = useSession().writing;
  const issues = useContext(IssuesContext).filter(({ path }) => fieldAt(path) === fields[name]);
  const issue = issueAt(issues, name);
  const add = useRef<HTMLButtonElement>(null);
  const isFull = entries.length >= limits[name];
  const setAll = (all: readonly Entry[]) => change({ [name]: all });
  return (
    <Stack gap="sm" align="start">
      {fields[name].hint && <Hint>{fields[name].hint}</Hint>}
      {issue !== undefined && (
        <Text c="var(--mantine-color-error)" id={fieldId(name)} data-invalid tabIndex={-1}>
          {issue}
        </Text>
      )}
      {entries.map((entry, index) => (
        <Fields key={index} legend={rest.legendOf(entry, index + 1)}>
          {children(
            entry,
            (changes) => setAll(entries.with(index, { ...entry, ...changes })),
            index,
          )}
          <Button
            variant="subtle"
            color="bad"
            mr="auto"
            aria-label={`Remove ${rest.legendOf(entry, index + 1)}`}
            onClick={() => {
              setAll(entries.toSpliced(index, 1));
              // The pressed button is gone.
              add.current!.focus();
            }}
          >
            Remove
          </Button>
        </Fields>
      ))}
      <Button
        ref={add}
        variant="default"
        aria-disabled={isFull}
        onClick={() => !isFull && setAll([...entries, rest.added()])}
      >
        {rest.addText}
      </Button>
    </Stack>
  );
}

/** The notification in other languages. */
function TranslationFields({ entries }: { readonly entries: readonly TranslationForm[] }) {
  const { sample, subscribers = 0 } = useProject().data ?? {};
  const readers = (tag: string) => {
    const known = canonicalTag(tag.trim());
    const found = known && sample?.locales[lookupTag(known)];
    return found === undefined || found === ''
      ? 'A tag such as de or pt-BR. Its readers get what you write here.'
      : `${languageName(known!)}: about ${estimateText(found, sample!.subscribers, subscribers)} subscribers`;
  };
  return (
    <>
      <Entries
        name="translations"
        entries={entries}
        added={() => emptyTranslation}
        addText="Add a language"
        legendOf={({ tag }) => (tag.trim() ? languageName(tag.trim()) : 'A language')}
      >
        {(entry, set, index) => (
          <>
            <TextInput
              id={fieldId(`translations[${index}].tag`)}
              label="Language"
              description={readers(entry.tag)}
              value={entry.tag}
              list="languages"
              onChange={(event) => set({ tag: event.currentTarget.value })}
            />
            {translatedNames.map((name) => (
              <TextField
                key={name}
                path={`translations.${entry.tag.trim()}.${name}`}
                value={entry[name]}
                onChange={(text) => set({ [name]: text })}
              />
            ))}
          </>
        )}
      </Entries>
      <datalist id="languages">
        {byCount(sample?.locales ?? {}).map(([tag]) => (
          <option key={tag} value={tag} label={languageName(tag)} />
        ))}
      </datalist>
    </>
  );
}

/** The name tells the buttons apart for the sender's own code. Who writes here need not know it. */
const shownButtonFields = ['title', 'url', 'icon'] as const;

/** The buttons of the notification. */
function ButtonFields({ entries }: { readonly entries: readonly ButtonForm[] }) {
  const names = ['button-1', 'button-2'];
  const unused = names.find((name) => entries.every(({ action }) => action !== name));
  return (
    <Entries
      name="actions"
      entries={entries}
      added={() => ({ ...emptyButton, action: unused! })}
      addText="Add a button"
      legendOf={(_, number) => `Button ${number}`}
    >
      {(entry, set, index) =>
        shownButtonFields.map((name) => (
          <TextField
            key={name}
            path={`actions[${index}].${name}`}
            value={entry[name]}
            onChange={(text) => set({ [name]: text })}
          />
        ))
      }
    </Entries>
  );
}
