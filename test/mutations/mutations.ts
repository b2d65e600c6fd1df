import { deliveryMutations } from './delivery-mutations.ts';
import type { Mutation } from './mutation.ts';
import { sendMutations } from './send-mutations.ts';
import { storeMutations } from './store-mutations.ts';

export const mutations: readonly Mutation[] = [
  ...storeMutations,
  ...sendMutations,
  ...deliveryMutations,
];
