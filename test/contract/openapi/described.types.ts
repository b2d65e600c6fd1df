import * as z from 'zod/mini';
import { described } from '../../../contract/wording/openapi/schema.ts';

const schema = z.object({ name: z.string(), inner: z.object({ count: z.int() }) });
const name = { description: '' };
const count = { description: '' };

/** Type checks only: `npm run types` fails if one of these calls is not an error. */
export function missingAndSuperfluousFacts() {
  const inner = { description: '', fields: { count } };
  const spread = { name, inner, other: name };
  // @ts-expect-error a field without a fact
  described(schema, { name });
  // @ts-expect-error a field of a field without a fact
  described(schema, { name, inner: { description: '', fields: {} } });
  // @ts-expect-error a fact without a field
  described(schema, { name, inner, other: name });
  // @ts-expect-error a fact without a field, from a spread
  described(schema, { ...spread });
}
