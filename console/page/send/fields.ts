import {
  type AudienceField,
  type FieldGroup,
  fieldGroups,
  type Member,
  type NamesWith,
} from '../../../contract/field-kinds.ts';
import { type FieldText, fieldTexts } from '../../../contract/openapi/field-texts.ts';
import { contentFields, type FieldName, sendFields } from '../../../contract/send-fields.ts';

type Row = Member | AudienceField;
export type FieldKind = Row['kind'];
export type { FieldName };
export type GroupName = FieldGroup;
export type KindOf<Name extends FieldName> = (typeof sendFields)[Name]['kind'];
/** The fields with users. */
export type UsersName = NamesWith<typeof sendFields, { readonly group: 'To' }>;

const rows: Readonly<Record<FieldName, AudienceField>> = sendFields;
const names = Object.keys(rows) as readonly FieldName[];

/** The names of a group, in the order of the form. */
export function namesIn(group: GroupName): readonly FieldName[] {
  return names.filter((name) => rows[name].group === group);
}

/** Every field of send, in the order of the form. Controls, parsing, refilling and labels follow from it. */
export const fields = Object.fromEntries(
  fieldGroups.flatMap(namesIn).map((name) => [name, formField(rows[name], fieldTexts[name])]),
) as Readonly<Record<FieldName, FormField>>;

const { members } = contentFields.actions;
type ButtonName = keyof typeof members;

/** The fields of one button. */
export const buttonFields = Object.fromEntries(
  Object.entries(fieldTexts.actions.members).map(([name, text]) => [
    name,
    formField(members[name as ButtonName], text),
  ]),
) as Readonly<Record<ButtonName, FormField>>;

/** One field of the send form, as the contract has it. */
export type FormField = ReturnType<typeof formField>;

function formField(row: Row & { readonly lines?: number }, text: FieldText) {
  const { label, hint, placeholder, choices, blank } = text;
  return {
    ...{ label, hint, placeholder, choices, blank },
    /** What the control is, and how the request has its value: see `send-form.ts`. */
    kind: row.kind,
    /** The most characters, of which the used ones are shown. */
    length: row.kind === 'text' && row.format === undefined ? row.max : undefined,
    /** Of a text with several lines. */
    rows: row.lines,
    /** Whether it is a flag that is on by default. */
    isOn: row.kind === 'flag' && row.default === true,
  };
}

/** @param path of the contract: `title`, `userIds[3]`, `recipients[1].values.name` or `actions[0].title`. */
export function fieldAt(path: string): FormField | undefined {
  const [name = '', , member] = path.split(/[.[]/);
  const [rows, key] =
    name === 'actions' && member !== undefined ? [buttonFields, member] : [fields, name];
  return new Map<string, FormField>(Object.entries(rows)).get(key);
}

/** Whether the field at a path is in a group. */
export function isIn(path: string, group: GroupName): boolean {
  return namesIn(group).some((name) => name === path.split(/[.[]/)[0]);
}
