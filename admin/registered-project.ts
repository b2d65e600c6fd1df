import type { ProjectItem } from '../lambdas/store/items.ts';

/** A project without the hashes of its secret keys. */
export type RegisteredProject = Omit<ProjectItem, 'apiKeyHash' | 'previousKeyHash'>;
