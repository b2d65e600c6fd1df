import { deployCall } from './calls.ts';

/** What CloudFormation's status of a stack means for its operator. */
export type StackState = 'absent' | 'failed' | 'working' | 'ready' | 'stuck';

/** @param status undefined if there is no such stack. */
export function stackStateOf(status: string | undefined): StackState {
  // REVIEW_IN_PROGRESS: a first change set was created and never executed, so nothing exists.
  if (status === undefined || status === 'REVIEW_IN_PROGRESS') return 'absent';
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') return 'failed';
  if (status.endsWith('_IN_PROGRESS')) return 'working';
  return status.endsWith('_COMPLETE') ? 'ready' : 'stuck';
}

/** One sentence for each state, and what to do. */
export const stackAdvice: Readonly<Record<StackState, string>> = {
  absent: `Nothing was created: run ${deployCall}.`,
  failed: `The first deployment failed. CloudFormation has deleted what it created. Run ${deployCall} again.`,
  working: 'CloudFormation is still working, also without this command. Try again in some minutes.',
  ready: 'A version runs.',
  stuck: 'CloudFormation could not undo a failed update: see "Rolling back" in docs/deploy.md.',
};
