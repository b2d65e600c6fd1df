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
  const issue = issues.find((one) => one.path === path || one.path.startsWith(`${path}.`));
  if (issue === undefined) return undefined;
  // Without what follows the name: `User ids, one per line`, `Data (JSON object)`.
  const name = label.replace(/(,| \().*/, '');
  // The position tells which user id is meant.
  const [position] = issue.path.slice(path.length + 1).split('.');
  const line = position ? ` in line ${Number(position) + 1}` : '';
  return `${name}${line} ${issue.message}.`;
}

/** The id of the input of a field. */
export function fieldId(path: string): string {
  return `send-${path.replaceAll('.', '-')}`;
}
