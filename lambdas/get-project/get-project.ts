import { type DescribedProject, limitOf } from '../../contract/project.ts';
import type { ProjectResult } from '../../contract/schemas/project.ts';
import type { CountChecker } from '../results/count-checker.ts';
import { utcMonth } from '../store/calendar.ts';
import type { ProjectUsage } from '../store/usage.ts';

export interface ProjectDependencies {
  readonly usage: (projectId: string, month: string, signal?: AbortSignal) => Promise<ProjectUsage>;
  /** The caps where the project's plan sets none. */
  readonly subscriberCap: number;
  readonly monthlySendCap: number;
  readonly checker: Pick<CountChecker, 'usage'>;
  readonly clock: () => Date;
}

/** The project, its caps and its usage. */
export async function getProject(
  { usage, subscriberCap, monthlySendCap, checker, clock }: ProjectDependencies,
  { projectId, name, vapid, plan, createdAt }: DescribedProject,
  signal?: AbortSignal,
): Promise<ProjectResult> {
  const { subscribers, sends, month } = await usage(projectId, utcMonth(clock()), signal);
  checker.usage(projectId, { subscribers, sends });
  return {
    projectId,
    name,
    applicationServerKey: vapid.current.publicKey,
    // A wrong counter may be negative; the response never is.
    subscribers: Math.max(0, subscribers),
    subscriberCap: limitOf(plan.subscriberCap, subscriberCap),
    sentThisMonth: Math.max(0, sends),
    monthlySendCap: limitOf(plan.monthlySendCap, monthlySendCap),
    month,
    createdAt,
  };
}
