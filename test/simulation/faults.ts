import type { Random } from './time/random.ts';

/** What may go wrong or come unexpectedly, with the highest probability wherever it may occur. */
const highestRates = {
  // Functions
  /** The environment of a function starts first. */
  'cold start': 0.5,
  /** The clock of a function differs by up to half a second from the time. */
  'clock differs': 0.5,
  /** It is set by up to ten minutes while a function runs. */
  'clock set': 0.3,
  /** A function stands still for some seconds or minutes, as others do not. */
  'function paused': 0.1,
  'crash before a call': 0.02,
  'crash after a call': 0.02,
  /** The function ends at a random time. */
  'crash while pushing': 0.1,
  /** One call of the run is picked, and fails. */
  'one call fails': 1,

  // The database
  'slow call': 0.2,
  /** DynamoDB refuses a call. */
  throttled: 0.3,
  /** Another transaction is writing the same item. */
  conflict: 0.3,
  /** Neither a write nor its response arrives. */
  'lost call': 0.1,
  /** The write happened; its response does not arrive. */
  'lost response': 0.2,
  /** The write happens after the caller has given up waiting for its response. */
  'late write': 0.1,
  /** Headers of the response arrive and its end does not: the SDK waits for ever. */
  'endless call': 0.05,
  /** One function loses its connection to DynamoDB for a while, or for good. The others keep theirs. */
  'cut off': 0.2,
  /** One function loses one table. */
  'cut off from a table': 0.2,
  /** DynamoDB refuses all calls for a while. */
  outage: 0.5,
  /** DynamoDB refuses the calls to one table for a while. */
  'outage of a table': 0.5,
  /** A BatchGetItem leaves some keys out. */
  'unprocessed keys': 0.5,
  /** The index of users is up to ten seconds behind. */
  'slow index': 0.5,

  // Lambda
  /** Send starts so late that no time is left for it. */
  'late start': 0.5,
  /** Lambda refuses the invocations of a slice for some seconds. */
  'throttled invocations': 0.7,
  /** It refuses them for as long as the request takes. */
  'never taken': 0.3,
  'lost invocation': 0.3,
  'lost invocation response': 0.5,
  /** A call to Lambda has no response for a minute. Lambda may have the invocation. */
  'hanging invocation': 0.4,
  /** Lambda accepts an invocation and loses it. */
  'taken and lost': 0.2,
  'connection broken before the invocation': 0.3,
  'connection broken after the invocation': 0.3,
  'duplicated invocation': 0.5,
  'duplicate at the end of a claim': 0.3,
  /** Lambda repeats the invocation after about a second, as often as hosts die. */
  'host died': 0.5,
  /** The repetition is throttled for up to an hour. */
  'late repetition': 0.7,
  /** An asynchronous invocation waits for minutes. */
  'late invocation': 0.3,

  // Push services
  /** No connection opens, or every response is an error, for a while or to the end. */
  'push service down': 0.3,
  /** Every push gets 429 for a while or to the end. */
  'push service suspended': 0.3,
  /** So many pushes a minute are accepted. The others get 429, with or without `Retry-After`. */
  'push service throttles': 0.3,
  'slow push service': 0.3,
  'push throttled': 0.2,
  'push throttled with Retry-After': 0.2,
  'push refused with an error': 0.2,
  /** The push service accepts a push, and its response does not arrive. */
  'push without response': 0.1,
  /** The push service accepts a push, and the connection breaks. */
  'reset after acceptance': 0.1,
  'malformed response': 0.1,
  'response cut off': 0.2,
  /** A connection that was used before breaks when it is used again. */
  'reused connection closed': 0.3,
  /** No connection. */
  'push not sent': 0.2,
  /** Only a part of the push leaves the function. */
  'push written in part': 0.05,
  /** A connection opens some seconds after the push has been given to it. */
  'slow connection': 0.2,
  'slow push': 0.5,
  'subscription gone': 0.3,
  /** The subscription was made with the other key pair than is stored. */
  'wrong key pair': 0.3,

  // Requests
  /** The pace of a delivery is so low that it needs all attempts of Lambda. */
  'slow delivery': 0.3,
  'request repeated at the same time': 0.4,
  'request repeated later': 0.7,
  /** The functions are frozen for ten minutes before it. */
  'request after ten minutes': 0.3,
  'subscriber added': 0.6,
  'subscriber removed': 0.6,
  /** A browser passes to another user, or chooses other channels. */
  'registration changed': 0.5,
  /** A browser does not wait for the response to a request before the next one. */
  'requests overlap': 0.7,
  /** A request reaches its function after some seconds. */
  'held request': 0.3,
  /** The owner removes a user. */
  'user removed': 0.5,
  /** The owner removes a device of a user. */
  'device removed': 0.5,

  // The operator
  'project deleted': 0.6,
  /** Another owner creates a project with the id of one that was deleted. */
  'project created again': 1,
  /** The operator revokes the key of a member, who uses it again. */
  'member key revoked': 0.3,
  /** The operator changes the limits of the project. */
  'limits changed': 0.5,
  /** The cap is lowered below the number of subscribers; then many leave, and others come. */
  'cap lowered': 0.3,
  /** The last sends of a month are at its end. */
  'month ends': 0.3,
  /** The operator drops the previous key pair, whoever uses it, or rotates the pair. */
  'key pair dropped': 1,
  /** A function uses the dropped pair for longer than the operator's command waits. */
  'key pair remembered': 1,
  'key pair rotated': 0.5,
  /** The operator removes the subscriptions that were not updated for long. */
  'subscriptions pruned': 0.5,
  /** The operator counts what the project has stored, and sets its counters. */
  'project counted': 0.5,
  /** The operator stops what the project sends, and refuses more, for a while or to the end. */
  'project paused': 0.5,

  // Only counted
  'notification stopped': 0,
  'gateway gave up': 0,
} as const;

export type Fault = keyof typeof highestRates;

export const faultNames = Object.keys(highestRates) as Fault[];

/** Decides what goes wrong in a run, and counts it. */
export class Faults {
  readonly counts = new Map<Fault, number>();
  readonly #rates = new Map<Fault, number>();
  readonly #stream: (name: string) => Random;

  /**
   * Each run has other faults, so that some runs have much of a few and others little of many.
   * @param stream random numbers by the name of what they decide.
   */
  constructor(stream: (name: string) => Random) {
    this.#stream = stream;
    const share = stream('share of faults').pick([0, 0.1, 0.2, 0.4, 0.7]);
    for (const fault of faultNames) {
      const random = stream(fault);
      if (random.chance(share)) {
        this.#rates.set(fault, highestRates[fault] * random.pick([0.1, 0.3, 1]));
      }
    }
    // Also where nothing else goes wrong.
    if (stream('one call').chance(0.6)) this.favour('one call fails');
  }

  /** Gives faults their highest rates, for a test that needs them. */
  favour(...faults: readonly Fault[]): void {
    for (const fault of faults) this.#rates.set(fault, highestRates[fault]);
  }

  occurs(fault: Fault): boolean {
    const rate = this.#rates.get(fault);
    if (rate === undefined || !this.#stream(fault).chance(rate)) return false;
    this.count(fault);
    return true;
  }

  count(fault: Fault): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
  }

  /** From now on nothing goes wrong. */
  stop(): void {
    this.#rates.clear();
  }
}
