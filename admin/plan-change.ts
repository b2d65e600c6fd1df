import type { Plan } from '../contract/project.ts';

/** Limits to change: a number, null for no limit, or `default` for the deployment's setting. */
export type PlanChange = { readonly [Limit in keyof Plan]?: number | null | 'default' };

/** Parameters of an `UpdateCommand`. */
export interface ProjectUpdate {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

/** The update that changes the given limits and keeps the others. */
export function planUpdate(changes: PlanChange): ProjectUpdate {
  const names: Record<string, string> = { '#plan': 'plan' };
  const values: Record<string, unknown> = {};
  const set: string[] = [];
  const remove: string[] = [];
  for (const [limit, value] of Object.entries(changes)) {
    names[`#${limit}`] = limit;
    if (value === 'default') {
      remove.push(`#plan.#${limit}`);
    } else {
      set.push(`#plan.#${limit} = :${limit}`);
      values[`:${limit}`] = value;
    }
  }
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: names,
    ...(set.length > 0 && { ExpressionAttributeValues: values }),
  };
}
