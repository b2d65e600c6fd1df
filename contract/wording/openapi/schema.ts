import * as z from 'zod/mini';

/** Documentation of a field that its schema does not have: its description, or that and more. */
export type Fact = string | FullFact;

export interface FullFact {
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
  : FullFact & ({ readonly fields: Fields<Schema> } | { readonly component: Component });

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

type AnyField = FullFact & { readonly fields?: AnyFields; readonly component?: Component };
export type AnyFields = { readonly [name: string]: AnyField };

type GivenFields = {
  readonly [name: string]: string | (FullFact & { readonly fields?: GivenFields });
};

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
export function asIn<Facts extends GivenFields>(describedIn: string, facts: Facts): Facts {
  const entries = Object.entries(full(facts)).map(([name, fact]) => [
    name,
    { ...fact, describedIn },
  ]);
  return Object.fromEntries(entries) as Facts;
}

function full(facts: GivenFields): AnyFields {
  const entries = Object.entries(facts).map(([name, fact]) => {
    if (typeof fact === 'string') return [name, { description: fact }];
    return [name, { ...fact, ...(fact.fields && { fields: full(fact.fields) }) }];
  });
  return Object.fromEntries(entries);
}

/** Missing and superfluous facts are type errors, also where they come from a spread. */
type Exactly<Given, Expected> = Given & { [Name in Exclude<keyof Given, keyof Expected>]: never };

export function described<Schema extends z.ZodMiniObject, const Given extends Fields<Schema>>(
  schema: Schema,
  fields: Exactly<Given, Fields<Schema>>,
): Described {
  return { schema, fields: full(fields as unknown as GivenFields) };
}

export function component<Schema extends z.ZodMiniObject, const Given extends Fields<Schema>>(
  name: string,
  schema: Schema,
  fields: Exactly<Given, Fields<Schema>>,
): Component {
  return { name, ...described(schema, fields) };
}

/** JSON Schema 2020-12, as far as the document uses it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/**
 * The JSON Schema of a described schema. Objects in it that are components become references.
 * @throws {Error} if the schema has a part that JSON Schema cannot express.
 */
export function jsonSchemaOf({ schema, fields }: Described): JsonSchema {
  // `input`: as a request has it, before its transforms. Responses have none.
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return withFacts(json as JsonSchema, fields);
}

/** The components among the fields, and those among their fields. */
export function componentsIn({ fields }: Described): readonly Component[] {
  return Object.values(fields).flatMap((field) => {
    if (field.component !== undefined) return [field.component, ...componentsIn(field.component)];
    return field.fields === undefined ? [] : componentsIn({ ...noSchema, fields: field.fields });
  });
}

const noSchema = { schema: z.never() };

export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The fields in the order of their facts. */
function withFacts(json: JsonSchema, fields: AnyFields): JsonSchema {
  const properties = Object.entries(fields).map(([name, field]) => {
    const { fields: inner, component, describedIn, ...fact } = field;
    const property = withInner(json.properties![name]!, inner, component);
    return [name, { ...property, ...plain(fact) }] as const;
  });
  return { ...json, properties: Object.fromEntries(properties) };
}

function withInner(json: JsonSchema, fields?: AnyFields, component?: Component): JsonSchema {
  if (json.type === 'array') return { ...json, items: withInner(json.items!, fields, component) };
  if (component !== undefined) return refTo(component.name);
  return fields === undefined ? json : withFacts(json, fields);
}

function plain<Fact extends { readonly description: string }>(fact: Fact): Fact {
  return { ...fact, description: withoutRelativeLinks(fact.description) };
}

/** Links within the reference do not work elsewhere: their text stays. */
export function withoutRelativeLinks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
}

/** Removes what says nothing, and writes the rest as people would. */
function simplify(json: z.core.JSONSchema.BaseSchema): void {
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.minLength === 0) delete json.minLength;
  if (json.minItems === 0) delete json.minItems;
  // Generators of clients make an enumeration of text of it. The description says it.
  if (json.type === 'boolean') delete json.const;
  // The pattern repeats the format.
  if (json.format !== undefined) delete json.pattern;
  if (json.type === 'integer' && json.exclusiveMinimum === 0) {
    delete json.exclusiveMinimum;
    json.minimum = 1;
  }
  // A record with known names is an object with optional properties.
  const names = (json.propertyNames as JsonSchema | undefined)?.enum;
  if (names !== undefined) {
    json.properties = Object.fromEntries(
      names.map((name) => [name, { ...(json.additionalProperties as object) }]),
    );
    delete json.additionalProperties;
  }
  delete json.propertyNames;
}
