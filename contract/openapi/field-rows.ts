import type { AnyFields, Described } from './described.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

/**
 * The rows of a table of fields: name, type, meaning.
 * @param ofRequest whether the table says which fields are required and what their bounds are.
 */
export function fieldRows(described: Described, ofRequest: boolean): string[][] {
  return rowsOf(jsonSchemaOf(described), described.fields, ofRequest, '');
}

function rowsOf(json: JsonSchema, fields: AnyFields, ofRequest: boolean, prefix: string) {
  return Object.entries(json.properties!).flatMap(([name, property]): string[][] => {
    const field = fields[name]!;
    const { describedIn } = field;
    if (describedIn !== undefined) {
      const together = Object.keys(fields).filter(
        (one) => fields[one]!.describedIn === describedIn,
      );
      const names = together.map((one) => `\`${one}\``).join(', ');
      return name === together[0] ? [[names, '', `As in ${describedIn}.`]] : [];
    }
    const isRequired = json.required?.includes(name) === true;
    const own = [
      `\`${prefix}${name}\``,
      typeOf(property) + presence(isRequired, ofRequest),
      (ofRequest
        ? [field.description, boundsOf(property), defaultOf(property)]
        : [field.description]
      )
        .filter(Boolean)
        .join(' '),
    ];
    const inner = property.type === 'array' ? property.items! : property;
    // Fields of a response with one meaning each would repeat what is documented elsewhere.
    if (!ofRequest || field.fields === undefined) return [own];
    const separator = property.type === 'array' ? '[].' : '.';
    return [own, ...rowsOf(inner, field.fields, ofRequest, `${prefix}${name}${separator}`)];
  });
}

function presence(isRequired: boolean, ofRequest: boolean): string {
  if (ofRequest) return isRequired ? ', required' : ', optional';
  return isRequired ? '' : ', may be absent';
}

function typeOf({ type, items, anyOf, $ref, const: constant }: JsonSchema): string {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `array of ${plural(typeOf(items!))}`;
  return type ?? ($ref === undefined ? typeof constant : 'object');
}

const plural = (type: string) => `${type}s`;

function defaultOf({ default: value }: JsonSchema): string {
  if (value === undefined) return '';
  return `Default: ${typeof value === 'number' ? value.toLocaleString('en') : `\`${value}\``}.`;
}

function alternatives(values: readonly unknown[]): string {
  const codes = values.map((one) => `\`${one}\``);
  return [codes.slice(0, -1).join(', '), codes.at(-1)].filter(Boolean).join(' or ');
}

/** The bounds of a schema in a sentence, such as `1 to 10 characters.`; empty if it has none. */
function boundsOf(json: JsonSchema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, items } = json;
  if (json.enum !== undefined) return `${alternatives(json.enum)}.`;
  const inner = items === undefined ? '' : boundsOf(items);
  const outer =
    between(minLength, maxLength, 'characters') ??
    between(minItems, maxItems, 'entries') ??
    between(minimum, maximum, '');
  const own = outer === undefined ? '' : `${outer}.`;
  return inner === '' ? own : `${own.slice(0, -1)}, each of ${inner}`;
}

function between(
  min: number | undefined,
  max: number | undefined,
  unit: string,
): string | undefined {
  if (max === undefined) return undefined;
  const least = min === undefined ? 'at most' : `${min.toLocaleString('en')} to`;
  const text = `${least} ${max.toLocaleString('en')} ${unit}`.trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
