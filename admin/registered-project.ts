import type { ProjectItem } from '../lambdas/store/items.ts';

/** A project without its internal key and the hashes of its others. */
export type RegisteredProject = Omit<
  ProjectItem,
  'internalKey' | 'secretKeyHash' | 'previousKeyHash' | 'members'
>;

/** The fields of a project with its application server keys. */
export type ProjectKeys = Pick<
  RegisteredProject,
  'projectId' | 'ref' | 'vapidPair' | 'vapidPublicKey' | 'previousVapidPublicKey'
>;

/** A project's application server keys by the numbers of their pairs. A key that was dropped is not among them. */
export function applicationServerKeys({
  vapidPair,
  vapidPublicKey,
  previousVapidPublicKey,
}: ProjectKeys): ReadonlyMap<number, string> {
  const keys = new Map([[vapidPair, vapidPublicKey]]);
  if (previousVapidPublicKey !== undefined) keys.set(vapidPair - 1, previousVapidPublicKey);
  return keys;
}
