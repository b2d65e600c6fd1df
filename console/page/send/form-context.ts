import { createContext, useContext } from 'react';
import type { Issue } from '../../../contract/errors.ts';
import { fieldAt } from './fields.ts';
import type { SendForm } from './send-form.ts';

/** The form that the fields of the send view edit. */
interface FormAccess {
  readonly form: SendForm;
  readonly change: (changes: Partial<SendForm>) => void;
  /** Empty until the first attempt to send. */
  readonly issues: readonly Issue[];
}

export const FormContext = createContext<FormAccess | undefined>(undefined);

export function useForm(): FormAccess {
  return useContext(FormContext)!;
}

/**
 * The sentence on what is wrong with a field, by its label, and with those of the fields that it names.
 * @param path of the field, such as `actions[0].title`. Finds the issues of its members too.
 */
export function issueAt(issues: readonly Issue[], path: string): string | undefined {
  const issue = issues.find(
    (one) => one.path === path || ['.', '['].some((next) => one.path.startsWith(path + next)),
  );
  if (issue === undefined) return undefined;
  // The position tells which user id or recipient is meant, and the last name which of its values.
  const [position, ...members] = issue.path.slice(path.length + 1).split(/\]?\./);
  const firstLine = path === 'recipients' ? 2 : 1;
  const line = position ? ` in line ${Number.parseInt(position, 10) + firstLine}` : '';
  const member = members.length > 0 ? `: ${members.at(-1)}` : '';
  const message = issue.message.replace(/"([\w.[\]]+)"/g, (quoted, named: string) => {
    const other = fieldAt(named === 'action' ? `${path}[0].action` : named);
    return other === undefined ? quoted : `“${other.label}”`;
  });
  return `${fieldAt(path)!.label}${line}${member} ${message}.`;
}

/** The id of the input of a field. */
export function fieldId(path: string): string {
  return `send-${path.replace(/[.[\]]+/g, '-')}`;
}
