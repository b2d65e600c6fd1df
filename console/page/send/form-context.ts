import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Issue } from '../../../contract/errors.ts';
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

/** @param path of the field, such as `actions.0.title`. Finds the issues of its members too. */
export function issueAt(issues: readonly Issue[], path: string, label: string): string | undefined {
  const issue = issues.find((one) => one.path === path || membersOf(path).test(one.path));
  if (issue === undefined) return undefined;
  // Without what follows the name: `User ids, one per line`, `Data (JSON object)`.
  const name = label.replace(/(,| \().*/, '');
  // The position tells which user id or recipient is meant, and the last name which of its values.
  const [position, ...members] = issue.path.slice(path.length + 1).split(/\]?\./);
  const firstLine = path === 'recipients' ? 2 : 1;
  const line = position ? ` in line ${Number(position) + firstLine}` : '';
  const member = members.length > 0 ? `: ${members.at(-1)}` : '';
  return `${name}${line}${member} ${issue.message}.`;
}

/** Finds the paths of a field's members: `userIds.3`, `recipients[3].values.name`. */
function membersOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.')}[.[]`);
}

/** The id of the input of a field. */
export function fieldId(path: string): string {
  return `send-${path.replaceAll('.', '-')}`;
}
