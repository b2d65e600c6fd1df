import { contentFields, type ShownName, shownNames } from './send-fields.ts';

/**
 * Values for the service worker. Its bundle has them instead of this file and what they are made from: see
 * `sdk/build/bundle.ts`.
 */

/** Chromium and Firefox stop a service worker that has nothing to do after 30 s. */
export const maxEventWindowSeconds = 20;

/** What is accepted of each member that browsers show without code for it: a type, or some texts. */
export const shownMembers = Object.fromEntries(
  shownNames.map((name) => [name, acceptedOf(name)]),
) as Readonly<Record<ShownName, string | readonly string[]>>;

function acceptedOf(name: ShownName) {
  const row = contentFields[name];
  switch (row.kind) {
    case 'choice':
      return row.choices;
    case 'flag':
      return 'boolean';
    // Epoch milliseconds.
    case 'time':
      return 'number';
    case 'text':
    case 'url':
      return 'string';
  }
}
