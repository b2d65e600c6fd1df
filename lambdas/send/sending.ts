import { createHash, createHmac } from 'node:crypto';
import { sendTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { conditionsOf, hasConditions } from '../../contract/wire/content.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { languagesOf } from '../../contract/wire/languages.ts';
import { limits } from '../../contract/wire/limits.ts';
import { eventCounterUrl, pushMessage } from '../../contract/wire/message.ts';
import type { ParsedSendRequest } from '../../contract/wire/notification.ts';
import {
  namesIn,
  type Personal,
  personalContent,
  type Values,
} from '../../contract/wire/placeholders.ts';
import type { SigningProject } from '../../contract/wire/project.ts';
import { routes } from '../../contract/wire/routes.ts';
import { contentOf } from '../../contract/wire/send-fields.ts';
import { type Deadlines, deadlinesOfRequest } from '../deliver/deadlines.ts';
import type { DeliverDependencies } from '../deliver/deliver.ts';
import { CurrentProject } from '../deliver/deliver-slice.ts';
import type { Parts } from '../store/counters.ts';
import { expiryAfterHours } from '../store/items.ts';
import type { NotificationStore, StoredNotification } from '../store/notifications.ts';
import type { EarlierRequest, NewNotification, SendStore } from '../store/sends.ts';
import {
  type Audience,
  divide,
  eventWindowSeconds,
  paceOf,
  shownSampleOf,
  slicesOf,
  type Users,
} from './divide.ts';
import type { SliceStarter } from './invoker.ts';

export interface SendDependencies extends DeliverDependencies {
  readonly sends: SendStore;
  readonly notifications: Pick<NotificationStore, 'find' | 'wasDeleted'>;
  readonly starter: SliceStarter;
  readonly newId: (time: Date) => string;
  /** Most notifications per month where the project sets no cap. */
  readonly monthlyCap: number;
  /** Days for which a notification is kept. */
  readonly notificationDays: number;
  /** Pushes per second over all functions that deliver a notification. */
  readonly pushesPerSecond: number;
  /** Accepted origins besides the push services that are known by name. */
  readonly extraOrigins: readonly string[];
}

export interface SendCall {
  readonly request: ParsedSendRequest;
  /** Whom the request is for: its user ids, or as many subscribers as the project has. */
  readonly audience: Audience;
  /** When the audience was read. The send counts against this month. */
  readonly sentAt: Date;
  /** Notifications of that month so far, by part of the counter. Undefined for a send to users. */
  readonly sent?: Parts | undefined;
  /** The member who sends. Undefined for the owner. */
  readonly sentBy?: string | undefined;
  /** A keyed hash of the `Idempotency-Key`, if given. */
  readonly idempotencyKey?: string | undefined;
  /** The earlier request with that key, if there is one and it was read. */
  readonly earlier?: EarlierRequest | undefined;
  /** Whether the caller asks not to wait for the delivery (RFC 7240 §4.1). */
  readonly respondAsync: boolean;
  /** Address of the service, for the events URL in the message. */
  readonly baseUrl: string;
  /** Unique to this request. */
  readonly requestId: string;
  /** When the request reached the gateway. All time limits count from here. */
  readonly startedAt: Date;
}

/** A call on its way through the steps of a send. */
export interface Sending extends Deadlines {
  readonly call: SendCall;
  readonly project: CurrentProject;
  readonly notification: NewNotification;
  readonly slices: readonly Slice[];
  /** Epoch ms. See `sendTimeline`. */
  readonly slicesEndAt: number;
}

/**
 * The users that a request is for, with the values of their placeholders and their badges; undefined for a broadcast.
 */
export function usersOf({ userIds, recipients, ...content }: ParsedSendRequest): Users | undefined {
  if (recipients === undefined) return userIds && { userIds };
  const names = namesIn(content);
  const used = ({ values = {} }: (typeof recipients)[number]) =>
    Object.fromEntries(names.map((name) => [name, values[name]])) as Values;
  return {
    userIds: recipients.map(({ userId }) => userId),
    values: names.length === 0 ? undefined : recipients.map(used),
    appBadges: recipients.some(({ appBadge }) => appBadge !== undefined)
      ? recipients.map(({ appBadge = null }) => appBadge)
      : undefined,
  };
}

/** The notification that a call asks for, divided into slices. */
export function newSending(
  deps: SendDependencies,
  project: SigningProject,
  call: SendCall,
): Sending {
  const startedAt = call.startedAt.getTime();
  const deadlines = deadlinesOfRequest(startedAt);
  const notification = newNotification(deps, project, call);
  return {
    ...deadlines,
    call,
    notification,
    slicesEndAt: startedAt + sendTimeline.slicesEndMs,
    slices: slicesOfNotification(deps, project.projectId, call, notification),
    project: new CurrentProject(deps.projects, deps.clock, project, call.sentAt.getTime()),
  };
}

/** The same call, with the notification of an earlier request in place of a new one. */
export function sendingOf(
  deps: SendDependencies,
  { notification: own, ...sending }: Sending,
  earlier: StoredNotification,
): Sending {
  const { projectId } = sending.slices[0]!;
  const notification = { ...own, ...earlier };
  const slices = slicesOfNotification(deps, projectId, sending.call, notification);
  return { ...sending, notification, slices };
}

function newNotification(
  deps: SendDependencies,
  { ref: project, settings }: SigningProject,
  { request, audience, sentAt, sentBy, idempotencyKey, respondAsync }: SendCall,
): NewNotification {
  const conditions = conditionsOf(request);
  const content = contentOf(request);
  const test = request.test ? true : undefined;
  // Only values that a placeholder uses: the others have no meaning, and two requests may differ in them.
  const users = 'userIds' in audience ? audience : {};
  const pace = paceOf(audience, deps.pushesPerSecond, respondAsync);
  return {
    project,
    // Not in the request's hash: a repetition means the same after the setting has changed.
    content: settings.events ? content : { ...content, events: false },
    sentAt,
    sentBy,
    test,
    expiresAt: expiryAfterHours(sentAt, deps.notificationDays * 24),
    id: deps.newId(sentAt),
    division: {
      ...('userIds' in audience ? { users: audience.userIds.length } : audience),
      conditions,
      ...divide(audience, pace, respondAsync),
      shownSample: hasConditions(conditions) ? undefined : shownSampleOf(audience, settings),
      extraOrigins: deps.extraOrigins.length === 0 ? undefined : deps.extraOrigins,
      respondedAsync: respondAsync,
    },
    keyed:
      idempotencyKey === undefined
        ? undefined
        : {
            keyHash: keyHashOf(idempotencyKey),
            requestHash: requestHash(idempotencyKey, {
              ...{ ...content, ...conditions, ...users },
              ...(test && { test }),
            }),
          },
  };
}

/** The slices of a notification, as its stored division says. */
function slicesOfNotification(
  { pushesPerSecond }: SendDependencies,
  projectId: string,
  call: SendCall,
  { project, id, content, division, sentAt, expiresAt }: NewNotification,
): readonly Slice[] {
  const audience: Audience =
    'userIds' in call.audience ? call.audience : { subscribers: division.subscribers! };
  const { conditions, shownSample, extraOrigins = [], respondedAsync } = division;
  const common = {
    projectId,
    project,
    content,
    conditions,
    extraOrigins,
    shownSample,
    notificationId: id,
    requestId: call.requestId,
    sentAt: sentAt.getTime(),
    eventsUrl: call.baseUrl + pathOf(routes.track, { projectId, notificationId: id }),
    expiresAt,
    awaitedSince: respondedAsync ? undefined : call.startedAt.getTime(),
  };
  return slicesOf(common, audience, division, paceOf(audience, pushesPerSecond, respondedAsync));
}

/**
 * Checks the size of the largest message, of all languages. The last event counter has the longest address; recipients
 * may have values.
 * @returns its bytes.
 * @throws {ServiceError} `payload_too_large`.
 */
export function largestMessage(
  { id, content, division }: StoredNotification,
  audience: Audience,
  eventsUrl: string,
): number {
  const lastCounter = division.slices * division.countersPerSlice - 1;
  const url = eventCounterUrl(eventsUrl, lastCounter);
  const windowSeconds = eventWindowSeconds(division.subscribers ?? division.users ?? 0);
  const personal: Personal = 'userIds' in audience ? audience : {};
  const own = personal.values ?? personal.appBadges;
  let largest = 0;
  for (const { tag, content: template } of languagesOf(content).all) {
    for (let index = 0; index < (own?.length ?? 1); index++) {
      const one = personalContent(template, personal, index);
      const message = pushMessage(id, one, url, windowSeconds, division.shownSample === undefined);
      const bytes = Buffer.byteLength(JSON.stringify(message));
      largest = Math.max(largest, bytes);
      const excess = bytes - limits.messageBytes;
      if (excess <= 0) continue;
      const language = tag === undefined ? '' : ` in "${tag}"`;
      const which = own === undefined ? '' : ` for recipients[${index}]`;
      throw new ServiceError(
        'payload_too_large',
        `The notification${language}${which} is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
      );
    }
  }
  return largest;
}

/** SHA-256 of an `Idempotency-Key`, hex. */
export function keyHashOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('hex');
}

/**
 * HMAC-SHA-256 of a request's meaning, hex. Its key is the `Idempotency-Key`, which is not stored. Without it, whoever
 * has the stored hash could find short values, such as a code, by trying all. Members are sorted at every depth,
 * because their order follows from the schema, which a deployment may change before the repetition.
 */
export function requestHash(
  idempotencyKey: string,
  request: Omit<ParsedSendRequest, 'userIds' | 'recipients'> & Partial<Users>,
): string {
  return createHmac('sha256', idempotencyKey)
    .update(JSON.stringify(request, withSortedMembers))
    .digest('hex');
}

function withSortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * A UUID of version 7 (RFC 9562 §5.7): 48 bits of time, then 74 random bits. The events route accepts
 * whoever knows the id, so all free bits are random.
 */
export function uuidV7(time: Date, randomBytes: (length: number) => Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.set(randomBytes(10), 6);
  bytes.writeUIntBE(time.getTime(), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...groups, hex.slice(20)].join('-');
}
