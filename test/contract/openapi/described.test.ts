import * as z from 'zod/mini';
import { described } from '../../../contract/openapi/described.ts';
import { jsonSchemaOf } from '../../../contract/openapi/json-schema.ts';

const schema = z.object({
  name: z.optional(z.string().check(z.maxLength(9))),
  inner: z.object({ count: z.int().check(z.positive()) }),
});
const name = { description: 'A [name](#names).' };
const count = { description: 'A count.' };

test('fields have the facts, in their order', () => {
  const inner = { description: 'An object.', fields: { count } };
  const json = jsonSchemaOf(described(schema, { inner, name }));
  expect(json.properties).toEqual({
    inner: {
      type: 'object',
      description: 'An object.',
      properties: { count: { type: 'integer', minimum: 1, description: 'A count.' } },
      required: ['count'],
    },
    name: { type: 'string', maxLength: 9, description: 'A name.' },
  });
  expect(Object.keys(json.properties!)).toEqual(['inner', 'name']);
  expect(json.required).toEqual(['inner']);
});
