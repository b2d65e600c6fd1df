import * as z from 'zod/mini';
import { asIn, described } from '../../../contract/openapi/described.ts';
import { fieldRows } from '../../../contract/openapi/field-rows.ts';
import { jsonSchemaOf } from '../../../contract/openapi/json-schema.ts';

const pause = z.optional(z.int().check(z.nonnegative(), z.lte(9000)));
const mode = z.enum(['a', 'b', 'c']);
const schema = z.object({ pause, mode, list: z.array(z.object({ name: z.string() })) });
const fields = {
  pause: { description: 'Seconds.', default: 5000 },
  mode: { description: 'A mode.', default: 'b' },
  list: { description: 'A list.', fields: { name: { description: 'A name.' } } },
};

test('a table of a request has types, bounds, defaults and the fields of fields', () => {
  expect(fieldRows(described(schema, fields), true)).toEqual([
    ['`pause`', 'integer, optional', 'Seconds. 0 to 9,000. Default: 5,000.'],
    ['`mode`', 'string, required', 'A mode. `a`, `b` or `c`. Default: `b`.'],
    ['`list`', 'array of objects, required', 'A list.'],
    ['`list[].name`', 'string, required', 'A name.'],
  ]);
});

test('a table has one row for all fields that another table describes', () => {
  const { list, ...others } = fields;
  const response = described(schema, { ...asIn('the [request](#send)', others), list });
  expect(fieldRows(response, false)).toEqual([
    ['`pause`, `mode`', '', 'As in the [request](#send).'],
    ['`list`', 'array of objects', 'A list.'],
  ]);
  expect(jsonSchemaOf(response)).toEqual(jsonSchemaOf(described(schema, fields)));
});
