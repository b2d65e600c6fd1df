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
import { createContext, type ReactNode, useContext } from 'react';
import { countText } from '../../../contract/text/text.ts';
import type { Issue } from '../../../contract/wire/errors.ts';
import { canonicalTag, lookupTag } from '../../../contract/wire/languages.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { byCount } from '../../../contract/wire/project-result.ts';
import type { FieldName } from '../../../contract/wire/send-fields.ts';
import { useProject } from '../calls.ts';
import { estimateText } from '../format.ts';
import { useSession } from '../session.ts';
import { Hint } from '../view.tsx';
import {
  type ButtonForm,
  buttonFields,
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
  const placeOf = (index: string) =>
    path === 'recipients'
      ? `row ${Number.parseInt(index, 10) + 2}`
      : `line ${Number.parseInt(index, 10) + 1}`;
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
  <Box component="fieldset" m={0} p={0} bd={0} miw={0} w="100%">
    <Text component="legend" fw={500} mb="xs">
      {legend}
    </Text>
    <Stack>{children}</Stack>
  </Box>
);

/** The control of a field of send, as the table of fields describes it. */
export function SendField({ name }: { readonly name: FieldName }) {
  const { draft, change } = useSession().writing;
  const { label, hint } = fields[name];
  const issue = useIssue(name);
  const value = draft.form[name];
  if (typeof value === 'string') {
    return <TextField path={name} value={value} onChange={(text) => change({ [name]: text })} />;
  }
  if (name === 'translations') return <TranslationFields />;
  if (typeof value !== 'boolean') return <ButtonFields />;
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

interface TextFieldProps {
  /** Such as `actions[0].title`. */
  readonly path: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const inputTypes: Readonly<Record<string, string>> = { url: 'url', time: 'datetime-local' };

/** A field whose value is typed, or chosen from texts. */
function TextField({ path, value, onChange }: TextFieldProps) {
  const { label, hint, kind, max, format, lines, placeholder, choices, unit, isRequired } =
    fieldAt(path)!;
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
    const known: Readonly<Record<string, string>> = { '': 'Default', ...choices };
    const data = Object.entries({ ...known, [value]: known[value] ?? `${value} ${unit}` });
    return <NativeSelect {...shared} data={data.map(([value, label]) => ({ value, label }))} />;
  }
  // User ids, channels and data are no words of a language.
  const typed = {
    ...shared,
    pos: 'relative' as const,
    placeholder,
    spellCheck: isProse,
    dir: isProse ? 'auto' : undefined,
    autoCapitalize: isProse ? undefined : 'none',
  };
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

/** The notification in other languages. */
function TranslationFields() {
  const { draft, change } = useSession().writing;
  const { sample, subscribers = 0 } = useProject().data ?? {};
  const { translations } = draft.form;
  const ofAll = useContext(IssuesContext).filter(
    ({ path }) => fieldAt(path) === fields.translations,
  );
  const issue = issueAt(ofAll, 'translations');
  const set = (index: number, changes: Partial<TranslationForm>) =>
    change({
      translations: translations.map((one, at) => (at === index ? { ...one, ...changes } : one)),
    });
  const counts = sample === undefined ? [] : byCount(sample.locales);
  const readers = (tag: string) => {
    const known = canonicalTag(tag.trim());
    const found = sample?.locales[known === undefined ? '' : lookupTag(known)];
    return found === undefined || sample === undefined || known === undefined
      ? ''
      : `${languageName(known)}: about ${estimateText(found, sample.subscribers, subscribers)} subscribers`;
  };
  return (
    <Stack gap="sm" align="start">
      {issue !== undefined && (
        <Text
          c="var(--mantine-color-error)"
          id={fieldId('translations')}
          data-invalid
          tabIndex={-1}
        >
          {issue}
        </Text>
      )}
      {translations.map((one, index) => (
        <Fields key={index} legend={one.tag.trim() ? languageName(one.tag.trim()) : 'A language'}>
          <TextInput
            id={fieldId(`translations[${index}].tag`)}
            label="Language"
            description={
              readers(one.tag) || 'A tag such as de or pt-BR. Its readers get what you write here.'
            }
            value={one.tag}
            spellCheck={false}
            autoCapitalize="none"
            list="languages"
            onChange={(event) => set(index, { tag: event.currentTarget.value })}
          />
          {translatedNames.map((name) => (
            <TextField
              key={name}
              path={`translations.${one.tag.trim()}.${name}`}
              value={one[name]}
              onChange={(text) => set(index, { [name]: text })}
            />
          ))}
          <RemoveEntry
            addId={addLanguageId}
            remove={() => change({ translations: translations.filter((_, at) => at !== index) })}
          >
            Remove this language
          </RemoveEntry>
        </Fields>
      ))}
      <datalist id="languages">
        {counts.map(([tag]) => (
          <option key={tag} value={tag} label={languageName(tag)} />
        ))}
      </datalist>
      <AddEntry
        id={addLanguageId}
        isFull={translations.length >= limits.translations}
        add={() => change({ translations: [...translations, emptyTranslation] })}
      >
        Add a language
      </AddEntry>
    </Stack>
  );
}

/** Removes one of several entries. The focus moves to the button that adds one, because the pressed button is gone. */
function RemoveEntry(props: {
  readonly addId: string;
  readonly remove: () => void;
  readonly children: ReactNode;
}) {
  const { addId, remove, children } = props;
  return (
    <Button
      variant="subtle"
      color="bad"
      style={{ alignSelf: 'start' }}
      onClick={() => {
        remove();
        document.getElementById(addId)?.focus();
      }}
    >
      {children}
    </Button>
  );
}

function AddEntry(props: {
  readonly id: string;
  readonly isFull: boolean;
  readonly add: () => void;
  readonly children: ReactNode;
}) {
  const { id, isFull, add, children } = props;
  return (
    <Button variant="default" id={id} aria-disabled={isFull} onClick={() => !isFull && add()}>
      {children}
    </Button>
  );
}

const addLanguageId = 'add-language';
const addButtonId = 'add-action';

/** The name tells the buttons apart for the sender's own code. Who writes here need not know it. */
const shownButtonFields = (Object.keys(buttonFields) as (keyof ButtonForm)[]).filter(
  (name) => name !== 'action',
);

function newButton(others: readonly ButtonForm[]): ButtonForm {
  const names = ['button-1', 'button-2'];
  return {
    ...emptyButton,
    action: names.find((name) => others.every(({ action }) => action !== name))!,
  };
}

/** The buttons of the notification. */
function ButtonFields() {
  const { draft, change } = useSession().writing;
  const { actions } = draft.form;
  const ofAll = useContext(IssuesContext).filter(({ path }) => path === 'actions');
  const issue = issueAt(ofAll, 'actions');
  const setAction = (index: number, changes: Partial<ButtonForm>) =>
    change({
      actions: actions.map((action, at) => (at === index ? { ...action, ...changes } : action)),
    });
  return (
    <Stack gap="sm" align="start">
      <Hint>{fields.actions.hint}</Hint>
      {issue !== undefined && (
        <Text c="var(--mantine-color-error)" id={fieldId('actions')} data-invalid tabIndex={-1}>
          {issue}
        </Text>
      )}
      {actions.map((action, index) => (
        <Fields key={index} legend={`Button ${index + 1}`}>
          {shownButtonFields.map((name) => (
            <TextField
              key={name}
              path={`actions[${index}].${name}`}
              value={action[name]}
              onChange={(text) => setAction(index, { [name]: text })}
            />
          ))}
          <RemoveEntry
            addId={addButtonId}
            remove={() => change({ actions: actions.filter((_, at) => at !== index) })}
          >
            Remove button {index + 1}
          </RemoveEntry>
        </Fields>
      ))}
      <AddEntry
        id={addButtonId}
        isFull={actions.length >= limits.actions}
        add={() => change({ actions: [...actions, newButton(actions)] })}
      >
        Add a button
      </AddEntry>
    </Stack>
  );
}
