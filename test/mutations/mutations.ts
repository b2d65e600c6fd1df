import type { Mutation } from './mutation.ts';
import { pushMutations } from './push-mutations.ts';
import { sendMutations } from './send-mutations.ts';
import { storeMutations } from './store-mutations.ts';

export const mutations: readonly Mutation[] = [
  ...storeMutations,
  ...sendMutations,
  ...pushMutations,
];
