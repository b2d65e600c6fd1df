import { choiceNames } from '../wire/fields.ts';
import { limits } from '../wire/limits.ts';
import { conditionFields } from '../wire/send-fields.ts';
import { choiceNouns } from './field-texts.ts';

/**
 * What Carillon stores about a person. docs/privacy.md has this table, `users export` takes its members from it, and
 * test/docs/privacy.test.ts compares it with what code stores.
 */

/** The place of some data, with what holds for all of it. */
interface Place {
  readonly where: string;
  readonly kept: string;
  readonly readBy: string;
  readonly ends: string;
}

export interface StoredData extends Place {
  /** Attributes of items, fields of log lines, entries of the browser. `*` at the end: all that begin so. Empty for copies. */
  readonly names: readonly string[];
  readonly what: string;
  readonly why: string;
  /** Members of a subscription in `users export`, or why it leaves the data out. */
  readonly exported: readonly string[] | string;
}

const subscription = {
  where: 'Subscriptions',
  kept: 'while subscribed',
  readBy: 'functions that send; all but endpoint and keys also members who send, by user id',
  ends: '`unsubscribe()`, an erasure, `prune`, or a push service that says that it is gone',
} as const satisfies Place;

const notification = {
  where: 'Notifications',
  kept: `${limits.notificationRetentionDays} days (\`notificationDays\`)`,
  readBy: 'keys of the project',
  ends: 'expires, or `notifications delete`',
} as const satisfies Place;

const delivery = { ...notification, where: 'Deliveries' } as const satisfies Place;

const log = {
  where: 'Log',
  kept: '30 days (`logDays`)',
  readBy: 'the operator',
  ends: 'expires',
} as const satisfies Place;

const browser = {
  where: 'Browser, IndexedDB',
  kept: 'while subscribed',
  readBy: 'pages of your site',
  ends: '`unsubscribe()`, an erasure, or the visitor clears the site’s data',
} as const satisfies Place;

const pageStorage = {
  where: 'Browser, localStorage',
  kept: 'until it ends',
  readBy: 'pages of your site',
  ends: 'the visitor clears the site’s data',
} as const satisfies Place;

const inBrowser = 'it is in the person’s own browser';

const conditions = Object.keys(conditionFields)
  .map((name) => `\`${name}\``)
  .join(', ');
const choices = choiceNames.map((name) => choiceNouns[name]).join(', ');
const otherChoices = choiceNames.filter((name) => name !== 'userId' && name !== 'consent');

export const storedData = [
  {
    ...subscription,
    names: ['origin', 'path'],
    what: 'endpoint: address of the browser at its push service',
    why: 'to push to it',
    exported: ['endpoint'],
  },
  {
    ...subscription,
    names: ['p256dh', 'auth'],
    what: 'keys of the browser',
    why: 'to encrypt what is pushed',
    exported: ['keys'],
  },
  {
    ...subscription,
    names: ['projectUser', 'userSince'],
    what: 'user id, as your page gives it, and since when',
    why: 'to send to this person',
    exported: ['userId', 'userSince'],
  },
  {
    ...subscription,
    names: otherChoices,
    what: otherChoices.map((name) => choiceNouns[name]).join(', '),
    why: 'to send what the visitor chose',
    exported: otherChoices,
  },
  {
    ...subscription,
    names: ['consent', 'firstAt'],
    what: `${choiceNouns.consent}; first registration, also of the endpoints that this one replaced`,
    why: 'to prove a consent',
    exported: ['consent', 'firstAt'],
  },
  {
    ...subscription,
    names: ['createdAt', 'updatedAt'],
    what: 'first and last registration of this endpoint',
    why: 'to tell browsers in use from others',
    exported: ['createdAt', 'updatedAt'],
  },
  {
    ...subscription,
    names: ['vapidPairNumber', 'imported', 'goneSince'],
    what: 'key that it was made with; whether it was imported; since when its push service reports it as gone',
    why: 'to push with the right key, and to lose nobody by mistake',
    exported: ['applicationServerKey', 'imported', 'goneSince'],
  },
  {
    ...subscription,
    names: ['projectPart', 'endpointHash'],
    what: 'keyed hash of the endpoint',
    why: 'to find the subscription',
    exported: 'it follows from the endpoint',
  },
  {
    ...subscription,
    names: ['expiresAt'],
    what: 'of who was erased: keyed hash of the endpoint, and its end',
    why: 'so that the erasure holds',
    kept: `${limits.erasureDays} days`,
    readBy: 'subscribe and imports',
    ends: 'expires, or the visitor subscribes',
    exported: 'a hash leads to nobody without the endpoint',
  },
  {
    ...notification,
    readBy: 'keys of the project; a viewer’s without `data`, `tag`, `url` of sends to users',
    names: ['content', 'conditions'],
    what: `title, text, URLs and \`data\` as sent, which may name a person; placeholders, not their values; ${conditions}`,
    why: 'to deliver it, and to show what was sent',
    exported: 'it is stored without recipients: search for the name',
  },
  {
    ...notification,
    names: ['users', 'sentAt'],
    what: 'how many user ids it was sent to, not which; when',
    why: 'to show what was sent',
    exported: 'it is stored without recipients',
  },
  {
    ...notification,
    names: ['sentBy'],
    what: 'name of the member who sent it',
    why: 'so that a team knows who sent what',
    exported: 'it is about a member: `notifications list`',
  },
  {
    ...notification,
    names: ['requestHash'],
    what: 'keyed hash of a request, and of its `Idempotency-Key`',
    why: 'to recognise a repetition',
    kept: `${limits.idempotencyHours} hours`,
    readBy: 'send',
    ends: 'expires',
    exported: 'a hash leads to nobody',
  },
  {
    ...delivery,
    names: ['delivered', 'removed', 'failed', 'failures', 'removals', 'reached'],
    what: 'counts of deliveries; of each user id of a send, in its order, whether one was delivered',
    why: 'to show what became of a send',
    exported:
      'counts name nobody. Those of a send to one person are about that person: your records say which it was',
  },
  {
    ...delivery,
    names: ['shown', 'clicked'],
    what: 'counts of notifications shown and clicked',
    why: 'to measure',
    exported: 'as above',
  },
  {
    where: 'RateLimits',
    names: ['bucket', 'hits', 'key *'],
    what: 'keyed hash of a caller’s address (of IPv6 its /64 and /48) with route and minute; its requests, also by key',
    why: 'to limit requests',
    kept: 'two minutes; AWS deletes up to two days later',
    readBy: 'the operator',
    ends: 'expires',
    exported: 'it is gone within minutes, and has no user id',
  },
  {
    where: 'RateLimits',
    names: ['addressKey'],
    what: 'random key of these hashes, another one each day',
    why: 'so that no address can be read',
    kept: 'its day (UTC); AWS deletes up to two days later',
    readBy: 'functions with a route, the operator',
    ends: 'expires',
    exported: 'it is about nobody',
  },
  {
    where: 'Audit',
    names: ['by', 'at', 'action', 'count', 'subject', 'member', 'failed'],
    what: 'who did what, and when: ARN of an operator, name of a member, or that the secret key was used; of an erasure or export also a keyed hash of whose; of a member key its member',
    why: 'to know afterwards who did what: `audit`',
    kept: `${limits.auditDays} days`,
    readBy: 'the operator',
    ends: 'expires',
    exported: 'a hash leads to nobody without the user id: `audit <projectId> <userId>`',
  },
  {
    where: 'Projects',
    names: ['members'],
    what: 'names of members, roles, hashes of keys, times',
    why: 'to let people work with a project',
    kept: 'until it ends',
    readBy: 'functions that check keys, the operator',
    ends: '`revoke`',
    exported: 'it is about members: `members`',
  },
  {
    ...log,
    names: ['network'],
    what: 'network of a caller (/24, of IPv6 /48)',
    why: 'to find the source of a flood',
    exported: 'it leads to no person',
  },
  {
    ...log,
    names: ['notification_id', 'attempted', 'delivered', 'removed', 'failed', 'shown', 'clicked'],
    what: 'id of a notification with its counts; how many events came in a second',
    why: 'to find faults',
    exported: 'as in Deliveries',
  },
  {
    ...browser,
    names: [
      ...['<scope>.choice', '<scope>.endpoint', '<scope>.saidAt', '<scope>.registeredAt'],
      ...['<scope>.projectId', '<scope>.baseUrl', '<scope>.applicationServerKey', '<scope>.worker'],
      '<scope>.events',
      '<scope>.history',
    ],
    what: `endpoint, ${choices}, signature of the user id, as registered; when; project, worker; whether it reports events, how many notifications it keeps`,
    why: 'to register the browser again when something changes',
    exported: inBrowser,
  },
  {
    ...browser,
    names: ['<scope>'],
    what: 'in place of these, "not now": that the visitor has unsubscribed, or was erased',
    why: 'so that only their click subscribes them again',
    kept: 'until it ends',
    ends: 'the visitor subscribes, or clears the site’s data',
    exported: inBrowser,
  },
  {
    ...browser,
    names: ['failures <scope>.count', 'failures <scope>.notBefore'],
    what: 'failures of registrations in the background, and the next attempt',
    why: 'to spare a service that is down',
    exported: inBrowser,
  },
  {
    ...browser,
    names: ['key', 'url', 'body', 'attempts', 'dueAt'].map((name) => `events <scope>.${name}`),
    what: 'the latest 256 events: notification, shown or clicked, whether it was reported',
    why: 'to report each event once',
    kept: 'until 256 newer ones',
    exported: inBrowser,
  },
  {
    ...browser,
    names: ['history <scope>.userId', 'history <scope>.entries'],
    what: 'with `init({ history })`, up to 100 shown notifications: title, text, URL, icon, when they were shown and clicked; the user id',
    why: 'to show them again',
    kept: 'until newer ones take their place, 30 days at most',
    ends: '`unsubscribe()`, a log-out, another user, an erasure, `history: 0`, or the visitor clears the site’s data',
    exported: inBrowser,
  },
  {
    ...pageStorage,
    names: ['carillon-channels'],
    what: 'channels of the bell while it is off',
    why: 'to offer them again',
    ends: 'the visitor subscribes, or clears the site’s data',
    exported: inBrowser,
  },
  {
    ...pageStorage,
    names: ['carillon-not-now'],
    what: 'when the visitor said "not now" to the prompt',
    why: 'to ask again later only',
    exported: inBrowser,
  },
  {
    ...pageStorage,
    where: 'Console, localStorage',
    names: ['carillon doubt <draft.id>'],
    what: 'a draft that may have been sent, encrypted with the member’s key',
    why: 'so that it is not sent twice',
    kept: `${limits.idempotencyHours} hours`,
    readBy: 'who has the key',
    ends: 'its outcome is known',
    exported: 'it is in a member’s browser',
  },
  {
    ...pageStorage,
    where: 'Console, sessionStorage',
    names: ['carillon draft <owner>'],
    what: 'a draft, with the user ids and values that it is for',
    why: 'to keep it while views change',
    kept: 'until the tab closes',
    readBy: 'the member',
    ends: '"Sign out"',
    exported: 'it is in a member’s browser',
  },
  {
    where: 'Recovery of the tables',
    names: [],
    what: 'all tables but RateLimits, as they were in each second',
    why: 'to restore what was lost',
    kept: '35 days (`recoveryDays`); the backup of a deleted table 35 in any case',
    readBy: 'the operator, in a restored table',
    ends: 'expires; nobody can delete from it',
    exported:
      'it can be read only by a restore: tell the person that it ends after 35 days, or your `recoveryDays`',
  },
  {
    where: 'Push services',
    names: [],
    what: 'messages that wait for a browser, encrypted for it',
    why: 'to deliver them',
    kept: '`ttl` of the send, 28 days at most',
    readBy: 'nobody but the browser',
    ends: 'delivered, expired, or the browser unsubscribed',
    exported: 'only the browser can read them',
  },
  {
    where: 'Files of exports, restored tables',
    names: [],
    what: 'what you had made of the above',
    why: 'your reasons',
    kept: 'as long as you keep them',
    readBy: 'who has them',
    ends: 'you delete them',
    exported: 'Carillon does not know them',
  },
] as const satisfies readonly StoredData[];

/** Members of a subscription in `users export`. */
export type ExportedMember = Exclude<(typeof storedData)[number]['exported'], string>[number];
