import type { LeaseEvent, LeaseState, refusal } from '../../lambdas/store/slices.ts';

/**
 * A model of all orders in which invocations can deliver one slice: they claim its chunks, push, save, end, leave what
 * they have not pushed, crash and take over; leases run out; responses are lost; writes arrive late or twice; the slice
 * is stopped or cancelled. The rule that decides about each write is the project's own.
 */

export type Rule = typeof refusal;

export interface Bounds {
  /** Invocations. */
  readonly writers: number;
  readonly chunks: number;
  /** Calls at once that arrive after their writer has given up. */
  readonly lateCalls: number;
  /** Whether a caller waits: then the writers are requests, and each may cancel what it has. */
  readonly isAwaited: boolean;
}

export interface Exploration {
  readonly states: number;
  /** What is wrong, after the shortest way to it. */
  readonly fault: string | undefined;
}

/**
 * `waiting`: for the start, or the end of another's lease. `free`: it has stored nothing. `stopped`: it only stores
 * the end. `gone`: it has crashed or left. The others repeat their last write.
 */
const phase = {
  waiting: 0,
  free: 1,
  mine: 2,
  stopped: 3,
  gone: 4,
  ends: 5,
  leaves: 6,
};
/** What a write names as the last one: none, the one that is stored, or an earlier one. */
const known = { none: 0, last: 1, earlier: 2 };
/** When a call was made, seen from the last one of its writer that is stored. */
const age = { before: 0, same: 1, after: 2 };
const ends = [undefined, 'delivered', 'cancelled'] as const;

/** All members are small numbers, so that a state is a short text. */
interface State {
  /** Number of the writer whose write is the last one, from 1. */
  by: number;
  ended: number;
  isStopped: number;
  isOver: number;
  /** Chunks before it were claimed. */
  position: number;
  /** Whether a stored write has counted pushes. */
  attempted: number;
  /** One bit for each chunk that was pushed. */
  pushed: number;
  writers: Writer[];
  /** In the order in which they were made. */
  late: Call[];
}

interface Writer {
  phase: number;
  known: number;
  /** Chunks before it are another's. */
  base: number;
  /** The next to push, and to claim. */
  pushed: number;
  position: number;
  /** Whether it knows that its lease holds. */
  mayPush: number;
}

interface Call {
  by: number;
  age: number;
  known: number;
  position: number;
  attempted: number;
  isCancel: number;
  knowsStop: number;
  ends: number;
  leaves: number;
}

/** A write as its writer plans it. */
interface Plan extends Partial<Pick<Call, 'knowsStop' | 'ends' | 'leaves'>> {
  /** The phase of its writer until it has succeeded. */
  readonly during: number;
  readonly position: number;
  /** Whether it is made if nothing goes wrong. */
  readonly isGood: boolean;
}

const newWriter: Writer = { phase: 0, known: 0, base: 0, pushed: 0, position: 0, mayPush: 0 };
const begin: Omit<State, 'writers'> = {
  ...{ by: 0, ended: 0, isStopped: 0, isOver: 0, position: 0, attempted: 0, pushed: 0 },
  late: [],
};

export function explore(
  rule: Rule,
  { writers, chunks, lateCalls, isAwaited }: Bounds,
): Exploration {
  const states: State[] = [];
  const numbers = new Map<string, number>();
  /** Of each state: the one before, what happened there, and the next one if nothing more goes wrong. */
  const before: number[] = [];
  const labels: string[] = [];
  const after: number[] = [];
  let current = -1;
  let doing = 'end';
  let fault: string | undefined;

  reach({ ...begin, writers: Array.from({ length: writers }, () => newWriter) }, 'begin');
  for (current = 0; current < states.length && fault === undefined; current += 1) {
    after[current] = -1;
    expand(states[current]!);
  }
  if (fault === undefined) findStuck();
  return { states: states.length, fault };

  function expand(from: State): void {
    if (from.ended > 0) return;
    for (const number of from.writers.keys()) expandWriter(from, number);
    // Nobody waits: the request has no lease. Its cancellation may have been under way for long.
    if (!isAwaited) step('the request cancels', false, (to) => execute(to, cancellation(0)));
    if (!isFree(from)) {
      step('the lease runs out', true, (to) => {
        to.isOver = 1;
        // Pushes end long before the lease, whose holder knows when it has written last.
        to.writers[to.by - 1]!.mayPush = 0;
      });
    }
    step('stop', false, (to) => {
      const refused = judge(to, { kind: 'stop' });
      if (refused !== [undefined, 'stopped'][to.isStopped]) fail(`refused as ${refused}`);
      to.isStopped = 1;
    });
    for (const [index, call] of from.late.entries()) {
      step('a late call is lost', false, (to) => to.late.splice(index, 1));
      // Its lease has begun when it was made: it may be over by now.
      for (const isOver of isFree(from) ? [0, 1] : [0]) {
        step(`the late call of ${call.by} arrives`, false, (to) => {
          const [arrived] = to.late.splice(index, 1);
          const refused = execute(to, arrived!, { next: index });
          if (refused === undefined && isOver) to.isOver = 1;
        });
      }
    }
  }

  function expandWriter(from: State, index: number): void {
    const { phase: is, pushed, position, mayPush } = from.writers[index]!;
    const name = `writer ${index + 1}`;
    if (is === phase.gone) return;
    if (is === phase.waiting) {
      startWriter(from, index);
      return;
    }
    const hold = (to: State) => {
      Object.assign(to.writers[index]!, { phase: phase.mine, mayPush: 1 });
      if (to.writers.filter((one) => one.mayPush).length > 1) fail('two may push');
    };
    const leave = (to: State) => {
      to.writers[index] = { ...newWriter, phase: phase.gone };
    };
    const write = (label: string, plan: Plan, then: (to: State) => void) =>
      makeWrite(from, index, `${name} ${label}`, plan, then);
    step(`${name} crashes`, false, leave);
    const isMine = is === phase.mine;
    if (isAwaited && mayCancel(from.writers[index]!)) {
      const call = cancellation(index + 1);
      step(`${name} cancels`, false, (to) => {
        leave(to);
        execute(to, call);
      });
      makeLate(from, `${name} cancels, late`, call, leave);
    }
    if (is === phase.stopped) {
      write('ends', { during: is, position, knowsStop: 1, ends: 1, isGood: true }, leave);
    }
    if (isMine || is === phase.ends || (is === phase.free && position === chunks)) {
      const isDone = position === chunks && (pushed === position || mayPush === 0);
      const isGood = !isMine || isDone;
      write('ends', { during: phase.ends, position, ends: 1, isGood }, leave);
    }
    if (isMine || is === phase.leaves) {
      // What it has not pushed is not claimed any more.
      write(
        'leaves',
        { during: phase.leaves, position: pushed, leaves: 1, isGood: !isMine },
        leave,
      );
    }
    if ((isMine || is === phase.free) && position < chunks) {
      write(`claims ${position}`, { during: is, position: position + 1, isGood: true }, (to) => {
        to.writers[index]!.position = position + 1;
        hold(to);
      });
    }
    if (isMine) write('saves', { during: is, position, isGood: false }, hold);
    if (mayPush && pushed < position) {
      step(`${name} pushes ${pushed}`, true, (to) => {
        if (to.pushed & (1 << pushed)) fail(`chunk ${pushed} is pushed twice`);
        to.pushed |= 1 << pushed;
        to.writers[index]!.pushed = pushed + 1;
        check(to);
      });
    }
  }

  function startWriter(from: State, index: number): void {
    const name = `writer ${index + 1}`;
    if (from.by > 0) {
      const call = { ...callOf(from, index), known: known.none, position: 1 };
      step(`${name} claims without a look`, false, (to) => {
        if (execute(to, call) === undefined) fail('a claim without a look is stored');
      });
    }
    if (!isFree(from)) return;
    step(`${name} takes the slice`, true, (to) => {
      // What was claimed before is attempted, or nobody knows.
      const { position } = to;
      const knows = to.by === 0 ? known.none : known.last;
      const mine = { base: position, pushed: position, position };
      to.writers[index] = { ...newWriter, ...mine, phase: phase.free, known: knows };
    });
  }

  /** What a writer would write next. */
  function callOf(from: State, index: number): Call {
    const { known: names, position, pushed } = from.writers[index]!;
    const by = index + 1;
    const attempted = Math.min(1, pushed);
    const none = { isCancel: 0, knowsStop: 0, ends: 0, leaves: 0 };
    return { by, age: age.after, known: names, position, attempted, ...none };
  }

  /** A write, with what can become of it and of its response. */
  function makeWrite(
    from: State,
    index: number,
    label: string,
    { during, isGood, ...planned }: Plan,
    then: (to: State) => void,
  ): void {
    const call = { ...callOf(from, index), ...planned };
    const send = (to: State) => {
      const own = to.writers[index]!;
      own.phase = during;
      if (during !== phase.mine) own.mayPush = 0;
      if (during === phase.leaves) own.position = call.position;
    };
    const respond = (to: State, order: Order = {}) => {
      send(to);
      const refused = execute(to, call, order);
      if (refused === undefined) {
        const again = { ...call, age: age.same, known: known.earlier };
        if (judgeCall(to, again) !== 'stored') fail('refused when it is repeated');
        to.writers[index]!.known = known.last;
        then(to);
      } else if (refused === 'stopped' && to.by === index + 1) {
        to.writers[index]!.phase = phase.stopped;
      } else {
        to.writers[index] = newWriter;
      }
    };
    step(label, isGood, (to) => respond(to));
    step(`${label}, without a response`, false, (to) => {
      send(to);
      execute(to, call);
    });
    makeLate(from, `${label}, late`, call, send);
    makeLate(from, `${label}, twice`, call, (to) => respond(to, { copy: to.late.length - 1 }));
  }

  function makeLate(from: State, label: string, call: Call, then: (to: State) => void): void {
    if (from.late.length === lateCalls) return;
    step(label, false, (to) => {
      to.late.push({ ...call });
      then(to);
    });
  }

  /** Executes a call, if the rule allows it. */
  function execute(to: State, call: Call, { next = to.late.length, copy }: Order = {}) {
    const refused = judgeCall(to, call);
    if (refused !== undefined) {
      checkRefusal(to, call, refused);
      return refused;
    }
    // What others name as the last write is an earlier one from now on.
    for (const one of [...to.writers, ...to.late]) {
      if (one.known === known.last) one.known = known.earlier;
    }
    for (const [index, one] of to.late.entries()) {
      const isLater = one.by === call.by && index >= next;
      one.age = index === copy ? age.same : isLater ? age.after : age.before;
    }
    to.by = call.by;
    if (call.isCancel) {
      if (to.pushed > 0) fail('a slice is cancelled that was pushed');
      to.ended = ends.indexOf('cancelled');
      return undefined;
    }
    if (to.isStopped && call.position > to.position) fail('a chunk of a stopped slice is claimed');
    to.position = call.position;
    to.attempted = call.attempted;
    to.isOver = call.leaves;
    to.ended = call.ends;
    check(to);
    return undefined;
  }

  /** A refusal says what is true. */
  function checkRefusal(to: State, call: Call, refused: NonNullable<ReturnType<Rule>>): void {
    const isOwn = to.by === call.by;
    const isNext = call.known === known.last || (isOwn && call.age === age.after);
    const isTrue = {
      stored: isOwn && call.age === age.same,
      lost: call.isCancel ? !isOwn : !isNext,
      stopped: to.isStopped === 1,
      ended: to.ended > 0,
    };
    if (!isTrue[refused]) fail(`refused as ${refused}`);
  }

  function judgeCall(state: State, call: Call): ReturnType<Rule> {
    const by = names[call.by]!;
    if (call.isCancel) {
      return judge(state, { kind: 'cancel', by: by.split('/')[0]!, isAwaited });
    }
    const nth = call.by === state.by ? call.age : age.same;
    const last = { by: names[state.by]!, n: lastN };
    const event = {
      kind: 'write',
      id: { by, n: lastN + nth - age.same },
      known: [undefined, last, { ...last, n: lastN - 2 }][call.known],
      knowsStop: call.knowsStop === 1,
    } as const;
    return judge(state, event);
  }

  function judge(state: State, event: LeaseEvent): ReturnType<Rule> {
    const { by, ended, isStopped, position } = state;
    const met: LeaseState = {
      lease: by === 0 ? undefined : { by: names[by]!, n: lastN },
      ended: ends[ended],
      isStopped: isStopped === 1,
      claimed: position,
    };
    return rule(met, event);
  }

  function check({ pushed, position, attempted }: State): void {
    if (pushed >> position > 0) fail('a claim is lost');
    if (attempted > position) fail('more is attempted than claimed');
  }

  /** @param isGood whether it happens if nothing goes wrong. */
  function step(label: string, isGood: boolean, change: (to: State) => unknown): void {
    const from = states[current]!;
    const to = {
      ...from,
      writers: from.writers.map((one) => ({ ...one })),
      late: from.late.map((one) => ({ ...one })),
    };
    doing = label;
    change(to);
    const number = reach(to, label);
    if (isGood && after[current] === -1) after[current] = number;
  }

  /** @returns the number of the state. */
  function reach(state: State, label: string): number {
    forgetRefused(state);
    const to = state.ended > 0 ? closed(state) : sorted(state);
    const { writers, late, ...slice } = to;
    const key = text([slice, ...writers, ...late]);
    let number = numbers.get(key);
    if (number === undefined) {
      number = states.push(to) - 1;
      numbers.set(key, number);
      before.push(current);
      labels.push(label);
    }
    return number;
  }

  /** A late write that is refused from now on is as good as lost, and a writer with such writes waits. */
  function forgetRefused(to: State): void {
    const mayReturn = (by: number, names: number, isNext: boolean) =>
      to.by === 0 ||
      names === known.last ||
      (isNext && by === to.by) ||
      to.late.some((one) => one.by === by && one.known === known.last);
    for (const call of to.late.toReversed()) {
      if (call.isCancel || mayReturn(call.by, call.known, call.age === age.after)) continue;
      if (judgeCall(to, call) === 'lost') to.late.splice(to.late.indexOf(call), 1);
    }
    for (const [index, one] of to.writers.entries()) {
      const isIdle = one.phase === phase.waiting || one.phase === phase.gone;
      if (isIdle || one.mayPush || mayReturn(index + 1, one.known, true)) continue;
      if (judgeCall(to, callOf(to, index)) === 'lost') to.writers[index] = newWriter;
    }
  }

  /** After its end, a slice is not written or pushed, and not cancelled if it was pushed. */
  function closed(state: State): State {
    const writes = [...state.writers.keys()].map((index) => callOf(state, index));
    const cancels = writes
      .filter((_, index) => isAwaited && mayCancel(state.writers[index]!))
      .map(({ by }) => cancellation(by));
    for (const call of [...writes, ...cancels, ...state.late]) {
      const refused = judgeCall(state, call);
      if (refused !== undefined) checkRefusal(state, call, refused);
      else if (call.isCancel === 0) fail('an ended slice is written');
      else if (state.pushed > 0) fail('a slice is cancelled that was pushed');
    }
    if (state.writers.some((one) => one.mayPush)) fail('an ended slice is pushed');
    if (judge(state, { kind: 'stop' }) !== 'ended') fail('an ended slice is stopped');
    return { ...begin, ended: state.ended, writers: state.writers.map(() => newWriter) };
  }

  /** States that differ in the order of the writers only are one. */
  function sorted(state: State): State {
    const ranks = state.writers.map((one, index) => {
      const named = state.late.map(({ by }) => Number(by === index + 1));
      return text([one], [Number(state.by === index + 1), ...named]);
    });
    const order = [...ranks.keys()].sort((one, other) => (ranks[one]! < ranks[other]! ? -1 : 1));
    const renamed = [0, ...ranks.map((_, index) => order.indexOf(index) + 1)];
    state.by = renamed[state.by]!;
    state.writers = order.map((index) => state.writers[index]!);
    for (const call of state.late) call.by = renamed[call.by]!;
    return state;
  }

  function fail(what: string): void {
    if (fault !== undefined) return;
    const steps = [doing, what];
    for (let number = current; number >= 0; number = before[number]!)
      steps.unshift(labels[number]!);
    fault = steps.join('\n');
  }

  /** Finds a state from which no end is reached, although a writer is left and nothing more goes wrong. */
  function findStuck(): void {
    const isEnding = new Set<number>();
    for (const first of states.keys()) {
      const way = new Set<number>();
      let number = first;
      while (!isEnding.has(number) && !isEnd(states[number]!)) {
        if (way.has(number) || after[number] === -1) {
          current = number;
          fail('no end is reached');
          return;
        }
        way.add(number);
        number = after[number]!;
      }
      for (const one of way) isEnding.add(one);
    }
  }
}

function cancellation(by: number): Call {
  const none = { known: 0, position: 0, attempted: 0, knowsStop: 0, ends: 0, leaves: 0 };
  return { by, age: age.after, ...none, isCancel: 1 };
}

/** Where a call stands among the late ones: the first that was made after it, and its copy. */
interface Order {
  readonly next?: number;
  readonly copy?: number;
}

/** The number of the last write, of whose writer there may be others from before and after. */
const lastN = 5;

const names = ['', 'request-1/1', 'request-2/1', 'request-3/1'];

/** A request cancels the send if nobody was pushed to, as far as it knows. */
function mayCancel({ phase: is, base, pushed }: Writer): boolean {
  return is !== phase.gone && base === 0 && pushed === 0;
}

function isFree({ by, isOver }: State): boolean {
  return by === 0 || isOver === 1;
}

function isEnd(state: State): boolean {
  const isStopped = state.isStopped === 1 && isFree(state);
  return state.ended > 0 || isStopped || state.writers.every((one) => one.phase === phase.gone);
}

/** Small numbers as a text. */
function text(objects: readonly object[], numbers: readonly number[] = []): string {
  const values = [...numbers];
  for (const object of objects) for (const value of Object.values(object)) values.push(value);
  return String.fromCharCode(...values);
}
