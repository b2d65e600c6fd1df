import type * as z from 'zod/mini';
import type { Issue } from './errors.ts';
import { limits } from './limits.ts';
import { nearestName } from './nearest-name.ts';

/** Unknown fields that one response names: a body may have thousands. */
const namedFields = 10;
/** Characters of an unknown field's name that a response repeats. */
const nameLength = 64;

/**
 * Lists what a schema refused, field by field. Each unknown field is a separate issue, with the
 * field that was probably meant.
 * @param whole what the schema describes, in words.
 */
export function issuesOf(
  error: z.core.$ZodError,
  schema: z.ZodMiniType,
  whole = 'this request',
): readonly Issue[] {
  const issues = error.issues
    .slice(0, limits.issues)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .slice(0, namedFields)
            .map((name) => unknownField(issue.path, name, fieldsAt(schema, issue.path), whole))
        : { path: pathText(issue.path), message: issue.message },
    );
  return issues.slice(0, limits.issues);
}

function unknownField(at: Path, name: string, fields: readonly string[], whole: string): Issue {
  const shortened = name.slice(0, nameLength);
  const nearest = nearestName(shortened, fields);
  const object = at.length === 0 ? whole : 'this object';
  const advice =
    nearest === undefined ? `the fields are ${fields.join(', ')}` : `did you mean "${nearest}"?`;
  const path = pathText([...at, shortened]);
  return { path, message: `is not a field of ${object}; ${advice}` };
}

type Path = readonly PropertyKey[];

/** `recipients[3].userId`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** Names of the fields of the object at this path. */
function fieldsAt(schema: z.core.$ZodType, path: Path): readonly string[] {
  const { innerType, element, shape = {} } = schema._zod.def as NestedSchemas;
  if (innerType !== undefined) return fieldsAt(innerType, path);
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(shape);
  return fieldsAt(element ?? shape[first as string]!, rest);
}

/** Where the definition of an optional schema, an array and an object has the schemas inside it. */
interface NestedSchemas {
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
}
