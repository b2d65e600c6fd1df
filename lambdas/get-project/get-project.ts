import { limits } from '../../contract/wire/limits.ts';
import {
  limitOf,
  type Project,
  publicSettings,
  rateLimitsOf,
} from '../../contract/wire/project.ts';
import {
  type AudienceCounts,
  byCount,
  type ProjectResult,
} from '../../contract/wire/project-result.ts';
import type { CountChecker } from '../results/count-checker.ts';
import { type projectUsage, utcMonth } from '../store/counters.ts';
import { countAudience, type subscriptionSample } from '../store/subscription-sample.ts';

export interface ProjectDependencies {
  readonly sample: ReturnType<typeof subscriptionSample>;
  readonly usage: ReturnType<typeof projectUsage>;
  /** The caps where the project sets none. */
  readonly subscriberCap: number;
  readonly monthlySendCap: number;
  readonly rateLimitPerMinute: number;
  readonly checker: Pick<CountChecker, 'usage'>;
  readonly clock: () => Date;
}

/** The project, its caps and its usage. @param isSampled whether a sample of its subscribers is counted. */
export async function getProject(
  { sample, usage, checker, clock, ...deployed }: ProjectDependencies,
  { projectId, ref, settings, vapid, createdAt }: Project,
  isSampled: boolean,
  signal?: AbortSignal,
): Promise<Omit<ProjectResult, 'access'>> {
  const now = clock();
  const [{ subscribers, sends, month }, sampled] = await Promise.all([
    usage(ref, utcMonth(now), signal),
    isSampled ? sample(ref, signal) : undefined,
  ]);
  checker.usage(projectId, { subscribers, sends });
  return {
    projectId,
    ...publicSettings(settings),
    applicationServerKey: vapid.current.publicKey,
    // A wrong counter may be negative; the response never is.
    subscribers: Math.max(0, subscribers),
    subscriberCap: limitOf(settings.subscriberCap, deployed.subscriberCap),
    sentThisMonth: Math.max(0, sends),
    monthlySendCap: limitOf(settings.monthlySendCap, deployed.monthlySendCap),
    month,
    ...rateLimitsOf(settings, deployed.rateLimitPerMinute),
    createdAt,
    ...(sampled && { sample: countsOf(sampled, now) }),
  };
}

function countsOf(
  sampled: Awaited<ReturnType<ProjectDependencies['sample']>>,
  now: Date,
): AudienceCounts {
  const counts = countAudience(sampled, now);
  const most = (of: Readonly<Record<string, number>>) =>
    Object.fromEntries(byCount(of).slice(0, limits.sampled));
  return { ...counts, channels: most(counts.channels), locales: most(counts.locales) };
}
