import { fieldRows } from '../../../contract/openapi/field-rows.ts';
import { send } from '../../../contract/openapi/operations/send.ts';

/**
 * What the API reference says about each field of send, with its bounds, by the field's name, such as
 * `title` or `actions[].title`. Markdown.
 */
export const fieldFacts: ReadonlyMap<string, string> = new Map(
  fieldRows(send.body!.content, true).map(([name = '', , text = '']) => [
    name.replaceAll('`', ''),
    text,
  ]),
);
