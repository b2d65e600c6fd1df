/** What the rows of `send-fields.ts` say, and the types that follow from them. */

/** Groups of the console's form, in its order. */
export const fieldGroups = [
  'Message',
  'To',
  'Only some of them',
  'Images',
  'Buttons',
  'Display',
  'Delivery',
  'Data',
] as const;
export type FieldGroup = (typeof fieldGroups)[number];

/** What a value may be. Lengths count Unicode code points. */
type Kind =
  | {
      readonly kind: 'text';
      readonly min: number;
      readonly max: number;
      readonly format?: 'languageTag';
      /** Whether it needs a visible character. */
      readonly isVisible?: true;
      readonly placeholders: Placeholders;
    }
  | { readonly kind: 'url'; readonly placeholders: Placeholders }
  | {
      readonly kind: 'number';
      readonly min: number;
      readonly max: number;
      readonly unit?: 'seconds' | 'days';
      readonly default?: number;
    }
  | { readonly kind: 'flag'; readonly default?: true }
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default?: string }
  /** A date-time with its offset. */
  | { readonly kind: 'time' }
  | { readonly kind: 'object'; readonly maxBytes: number }
  | {
      readonly kind: 'list';
      readonly max: number;
      /** Of each entry. */
      readonly members: Readonly<Record<string, Member>>;
      /** The member in which entries must differ. */
      readonly distinct: string;
    };

/** What happens to `{{name}}` in a text if the request has recipients. */
type Placeholders = 'filled' | 'refused' | 'literal';

/** A member of an entry of a list. */
export type Member = Kind & { readonly isRequired?: true };

interface FieldFacts {
  /** `browser`: it is in the push message. `pushService`: it is a header of the push. `service`: it is neither. */
  readonly seenBy: 'browser' | 'pushService' | 'service';
  /** Group of the form. */
  readonly group: FieldGroup;
  /** Lines of its control in the form. Default: one. */
  readonly lines?: number;
  /** All samples of the content are valid together, and none is a default. */
  readonly sample: unknown;
  /** A value that is refused. */
  readonly invalid: unknown;
}

export type ContentField = Member &
  FieldFacts & {
    /** `own`: `message.ts` and the service worker have code for it. Default: browsers show the member of its name. */
    readonly message?: 'own';
    /** A field that must be given unless this one has its default. */
    readonly requires?: string;
  };

/** `lines`: a list of texts, one in each line of its control. `table`: entries as a spreadsheet has them. */
export type AudienceField = FieldFacts &
  (Kind | { readonly kind: 'lines' | 'table'; readonly max: number });

/** Names of the rows with these facts. */
export type NamesWith<Rows, Facts> = {
  [Name in keyof Rows]: Rows[Name] extends Facts ? Name : never;
}[keyof Rows];

/** A value of a row, as a request has it. */
export type ValueOf<Row> = Row extends { readonly kind: 'number' }
  ? number
  : Row extends { readonly kind: 'flag' }
    ? boolean
    : Row extends { readonly kind: 'choice'; readonly choices: readonly (infer Choice)[] }
      ? Choice
      : Row extends { readonly kind: 'object' }
        ? Record<string, unknown>
        : Row extends { readonly kind: 'list'; readonly members: infer Members }
          ? ObjectOf<Members>[]
          : string;

/** An object with the members of some rows. */
export type ObjectOf<Rows> = {
  readonly [Name in NamesWith<Rows, { readonly isRequired: true }>]: ValueOf<Rows[Name]>;
} & {
  readonly [Name in Exclude<keyof Rows, NamesWith<Rows, { readonly isRequired: true }>>]?:
    | ValueOf<Rows[Name]>
    | undefined;
};

/** The value that a field has if it is left out. Undefined if it has none. */
export function defaultOf(row: Member): unknown {
  if (row.kind === 'flag') return row.default ?? false;
  return 'default' in row ? row.default : undefined;
}
