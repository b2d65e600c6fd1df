import {
  asyncBroadcast,
  type Cost,
  coldStart,
  event,
  type Inputs,
  monitoring,
  storage,
  targetedSend,
  times,
} from './cost-model.ts';

/** A whole site in a month, in US dollars. */
export interface SiteCost {
  readonly what: string;
  readonly sends: number;
  readonly events: number;
  /** Stored subscriptions, alarms, dashboard and metrics. */
  readonly standing: number;
}

const days = 30;
const million = 1_000_000;
/** Every push is shown, and one in twenty clicked. */
const eventsPerPush = 1.05;

/** Rows of the table of sites. */
export function sites(inputs: Inputs): readonly SiteCost[] {
  const { memory } = inputs;
  const broadcast = asyncBroadcast(inputs, million);
  const broadcasts = (perDay: number, events: number) => ({
    sends: [
      times(days * perDay, 'broadcasts', broadcast),
      times(days * perDay * broadcast.functions.length, 'cold starts', coldStart(memory.send)),
    ],
    // Their cold starts are few: a function that has started counts the events of minutes.
    events: [times(events, 'events', event(inputs))],
    subscribers: million,
  });
  const sends = 10_000;
  return [
    site('10,000 sends to single users', inputs, {
      // So rare that every function starts for one request.
      sends: [
        times(sends, 'sends', targetedSend(inputs)),
        times(sends, 'cold starts', coldStart(memory.send)),
      ],
      events: [
        times(sends * eventsPerPush, 'events', event(inputs)),
        times(sends * eventsPerPush, 'cold starts', coldStart(memory.track)),
      ],
      subscribers: sends,
    }),
    site(
      'a broadcast a day to a million subscribers',
      inputs,
      broadcasts(1, days * million * eventsPerPush),
    ),
    site(
      '10 million events a day, of ten broadcasts to a million',
      inputs,
      broadcasts(10, days * 10 * million),
    ),
  ];
}

function site(
  what: string,
  inputs: Inputs,
  parts: { sends: readonly Cost[]; events: readonly Cost[]; subscribers: number },
): SiteCost {
  const standing = [storage(parts.subscribers, inputs.itemBytes), ...monitoring(inputs)];
  return { what, sends: sum(parts.sends), events: sum(parts.events), standing: sum(standing) };
}

function sum(costs: readonly Cost[]): number {
  return costs.reduce(
    (total, { api, lambda, dynamodb, logs, transfer }) =>
      total + api + lambda + dynamodb + logs + transfer,
    0,
  );
}
