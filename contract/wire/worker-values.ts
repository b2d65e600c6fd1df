import { contentFields, type DisplayedName, displayedNames } from './send-fields.ts';

/**
 * Values for the service worker. Its bundle has them instead of this file and what they are made from: see
 * `sdk/build/bundle.ts`.
 */

/** Chromium and Firefox stop a service worker that has nothing to do after 30 s. */
export const maxEventWindowSeconds = 20;

/** What is accepted of each member that browsers show without code for it: a type, or some texts. */
export const displayedMembers = Object.fromEntries(
  displayedNames.map((name) => [name, acceptedOf(name)]),
) as Readonly<Record<DisplayedName, string | readonly string[]>>;

function acceptedOf(name: DisplayedName) {
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
