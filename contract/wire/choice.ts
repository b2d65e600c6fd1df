/**
 * What a visitor chooses of a subscription. It travels as one value from the request to the item: only
 * `lambdas/store/items.ts` takes it apart, where a member that it does not know is a type error.
 */
export interface Choice {
  readonly userId?: string | undefined;
  /** Names of what to receive. */
  readonly channels?: readonly string[] | undefined;
}

/** A choice, as a request states it. A user id that is null says that it is nobody; an absent one says nothing. */
export interface StatedChoice extends Omit<Choice, 'userId'> {
  readonly userId?: string | null | undefined;
}
