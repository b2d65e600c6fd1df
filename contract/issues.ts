import type * as z from 'zod/mini';
import type { Issue } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/** Unknown fields that one response names: a body may have thousands. */
const namedFields = 10;
/** Characters of an unknown field's name that a response repeats. */
const nameLength = 64;

/**
 * Lists what a schema refused, field by field. Each unknown field is a separate issue, with the
 * field that was probably meant.
 */
export function issuesOf(error: z.core.$ZodError, schema: z.ZodMiniType): readonly Issue[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.slice(0, namedFields).map((name) => unknownField(name, fieldsOf(schema)))
      : { path: issue.path.join('.'), message: issue.message },
  );
}

function unknownField(name: string, fields: readonly string[]): Issue {
  const path = name.slice(0, nameLength);
  const nearest = nearestName(path, fields);
  const advice =
    nearest === undefined ? `the fields are ${fields.join(', ')}` : `did you mean "${nearest}"?`;
  return { path, message: `is not a field of this request; ${advice}` };
}

function fieldsOf(schema: z.ZodMiniType): readonly string[] {
  return 'shape' in schema ? Object.keys(schema.shape as object) : [];
}
