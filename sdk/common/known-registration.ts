import type { ProjectAddress } from './service.ts';

/** What the service was last told about this browser, as page and service worker remember it. */
export interface KnownRegistration extends ProjectAddress {
  readonly userId: string | undefined;
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

const day = 24 * 60 * 60 * 1000;

/**
 * Whether the service has to be told: something is not as it knows it, or it was told more than a
 * day ago and may have forgotten since.
 */
export function isDue(
  known: KnownRegistration | undefined,
  wanted: Omit<KnownRegistration, 'registeredAt'>,
  now: number,
): boolean {
  return (
    known === undefined ||
    now - known.registeredAt > day ||
    known.endpoint !== wanted.endpoint ||
    known.userId !== wanted.userId ||
    known.projectId !== wanted.projectId ||
    known.baseUrl !== wanted.baseUrl ||
    known.applicationServerKey !== wanted.applicationServerKey
  );
}
