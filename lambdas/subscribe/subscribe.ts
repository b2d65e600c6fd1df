import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/wire/errors.ts';
import { choiceIn } from '../../contract/wire/fields.ts';
import { type IdentityProject, limitOf, type Project } from '../../contract/wire/project.ts';
import type { SubscribeBody } from '../../contract/wire/subscription.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';

export interface SubscribeDependencies {
  readonly subscriptions: Pick<SubscriptionStore, 'save'>;
  readonly projects: Pick<ProjectStore<IdentityProject>, 'refresh'>;
  readonly clock: () => Date;
}

export interface SubscribeRequest extends SubscribeBody {
  /** When the gateway got it: epoch ms. Of two requests of a browser, the later one counts. */
  readonly requestedAt: number;
}

/**
 * Adds a browser's subscription to a project, or updates it.
 * @param remembered the project, which may have been read a while ago.
 * @param deployedCap most subscribers where the project's plan sets no cap.
 */
export async function subscribe(
  { subscriptions, projects, clock }: SubscribeDependencies,
  remembered: IdentityProject,
  request: SubscribeRequest,
  deployedCap: number,
  signal?: AbortSignal,
): Promise<void> {
  const { endpoint, keys, userId, userIdSignature, applicationServerKey } = request;
  const { renewal: isRenewal, replaces, requestedAt } = request;
  const project = await expectProven(remembered, userId, userIdSignature);
  const capOf = ({ settings }: Project) => limitOf(settings.subscriberCap, deployedCap);
  let cap = capOf(project);
  const vapidPairNumber = await pairOf();
  const assumedPairNumber = project.vapid.current.number;
  const outcome = await subscriptions.save(
    project,
    {
      ...{ endpoint, keys, choice: choiceIn(request), isRenewal, requestedAt },
      replaces: replaces?.href,
      ...{ vapidPairNumber, assumedPairNumber },
    },
    cap,
    signal,
    async () => {
      cap = capOf(await refreshed());
      return cap;
    },
  );
  switch (outcome) {
    case 'created':
    case 'updated':
      return;
    case 'erased':
      throw new ServiceError(
        'erased',
        'This browser was erased: it can be registered when its visitor subscribes again.',
      );
    case 'cap_reached':
      throw new ServiceError(
        'subscriber_cap_reached',
        `The project has reached its subscriber cap, ${cap}; its operator can raise it.`,
      );
    case 'project_gone':
      throw projectGone();
  }

  /** The project as it is now. */
  async function refreshed(): Promise<IdentityProject> {
    const stored = await projects.refresh(remembered.projectId, signal);
    if (stored === undefined) throw projectGone();
    return stored;
  }

  /**
   * Checks the signature if there is one, and requires it if the project does.
   * @returns the project as it was read last.
   */
  async function expectProven(
    project: IdentityProject,
    userId: string | null | undefined,
    signature: string | undefined,
  ): Promise<IdentityProject> {
    if (typeof userId !== 'string') return project;
    if (signature === undefined) {
      if (project.settings.userIds === 'open') return project;
      throw new ServiceError(
        'user_id_signature_required',
        'This project accepts a "userId" only with a "userIdSignature", which your server makes.',
      );
    }
    if (isSignatureOf(project, userId, signature, clock())) return project;
    // The project in memory may be older than its last rotation. Reading it again costs less than the write that has
    // counted the request.
    const stored = await refreshed();
    if (isSignatureOf(stored, userId, signature, clock())) return stored;
    throw new ServiceError(
      'user_id_signature_invalid',
      'The "userIdSignature" is not that of this "userId": sign exactly the text that you send, ' +
        'with the key that "carillon show --keys" prints.',
    );
  }

  /** @returns the number of the pair that the request names, undefined if it names none. */
  async function pairOf(): Promise<number | undefined> {
    if (applicationServerKey === undefined) return undefined;
    const find = ({ vapid: { current, previous } }: Project) =>
      [current, previous].find((pair) => pair?.publicKey === applicationServerKey);
    // The project in memory may be older than its last rotation.
    const found = find(project) ?? find(await refreshed());
    if (found !== undefined) return found.number;
    throw new ServiceError(
      'application_server_key_unknown',
      'The project does not have this application server key; ' +
        'subscribe the browser with the key that "carillon show" prints.',
    );
  }
}

function projectGone(): ServiceError {
  return new ServiceError('project_not_found', 'The project has just been deleted.');
}

/**
 * Whether a signature is that of the user id with the identity key of the project, or with its previous key.
 * Takes the same time wherever the texts differ.
 */
function isSignatureOf(
  { identityKey, previousIdentityKey: previous }: IdentityProject,
  userId: string,
  signature: string,
  now: Date,
): boolean {
  const isPreviousValid = previous !== undefined && now < previous.until;
  const keys = isPreviousValid ? [identityKey, previous.key] : [identityKey];
  return keys.some((key) => {
    const expected = createHmac('sha256', key).update(userId).digest('base64url');
    return isSameText(Buffer.from(expected), Buffer.from(signature));
  });
}

function isSameText(expected: Buffer, given: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
