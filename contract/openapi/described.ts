import type * as z from 'zod/mini';

/** Documentation of a field that its schema does not have. */
export interface Fact {
  /** Markdown. Without the bounds of lengths and numbers: the schema has them. */
  readonly description: string;
  /** JSON Schema keywords for what the schema checks in code (`refine`, `transform`). */
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  /** Where the reference describes the field: its table then has one row for all fields from there. */
  readonly describedIn?: string;
}

/** A fact for every field of a schema, and for every field of its fields. */
export type Fields<Schema> = {
  readonly [Name in keyof ShapeOf<Schema>]-?: FieldOf<ShapeOf<Schema>[Name]>;
};

type FieldOf<Schema> = [ShapeOf<Schema>] extends [never]
  ? Fact
  : Fact & ({ readonly fields: Fields<Schema> } | { readonly component: Component });

type ShapeOf<Schema> =
  Schema extends z.ZodMiniObject<infer Shape>
    ? Shape
    : Schema extends z.ZodMiniRecord<z.ZodMiniEnum<infer Names>, infer Value>
      ? { [Name in keyof Names]: Value }
      : Schema extends z.ZodMiniOptional<infer Inner>
        ? ShapeOf<Inner>
        : Schema extends z.ZodMiniArray<infer Item>
          ? ShapeOf<Item>
          : Schema extends z.ZodMiniPipe<infer Input>
            ? ShapeOf<Input>
            : never;

type AnyField = Fact & { readonly fields?: AnyFields; readonly component?: Component };
export type AnyFields = { readonly [name: string]: AnyField };

/** The schema of an object, with a fact for each field. */
export interface Described {
  readonly schema: z.ZodMiniType;
  readonly fields: AnyFields;
}

/** A described schema that the document lists by its name. */
export interface Component extends Described {
  readonly name: string;
}

/** Facts of fields that another table of the reference describes. */
export function asIn<Facts extends AnyFields>(describedIn: string, facts: Facts): Facts {
  const entries = Object.entries(facts).map(([name, fact]) => [name, { ...fact, describedIn }]);
  return Object.fromEntries(entries) as Facts;
}

/** Missing and superfluous facts are type errors, also where they come from a spread. */
type Exactly<Given, Expected> = Given & { [Name in Exclude<keyof Given, keyof Expected>]: never };

export function described<Schema extends z.ZodMiniObject, const Given extends Fields<Schema>>(
  schema: Schema,
  fields: Exactly<Given, Fields<Schema>>,
): Described {
  return { schema, fields: fields as unknown as AnyFields };
}

export function component<Schema extends z.ZodMiniObject, const Given extends Fields<Schema>>(
  name: string,
  schema: Schema,
  fields: Exactly<Given, Fields<Schema>>,
): Component {
  return { name, ...described(schema, fields) };
}
