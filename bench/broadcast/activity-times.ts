import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Activities of the send function's thread. */
export const activities = [
  'encrypting',
  'pushing',
  'reading',
  'removing',
  'garbage collection',
  'other',
] as const;
export type Activity = (typeof activities)[number];

export interface ActivityTimes {
  readonly busySeconds: Readonly<Record<Activity, number>>;
  /** Time in which the thread waited for responses. */
  readonly idleSeconds: number;
}

/** The activity of a stack frame, by its source file. A frame of another file has its caller's. */
const activityBySource: readonly (readonly [pattern: RegExp, activity: Activity])[] = [
  [/lambdas\/push\/crypto/, 'encrypting'],
  [/lambdas\/push\/transport|^node:(_tls|internal\/tls)/, 'pushing'],
  [/lambdas\/store\/subscriptions/, 'removing'],
  // Here only pushes use TLS, and only the database uses plain HTTP.
  [/lambdas\/store\/audience|node_modules\/@(aws-sdk|smithy)|^node:_http/, 'reading'],
];

/** Adds up a profile's samples by the activity of their innermost attributable frame. */
export function activityTimesOf({
  nodes,
  samples = [],
  timeDeltas = [],
}: Profiler.Profile): ActivityTimes {
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sourceOf = sourceFinder();

  const cache = new Map<number, Activity | 'idle'>();
  const activityOf = (id: number): Activity | 'idle' => {
    const cached = cache.get(id);
    if (cached !== undefined) return cached;
    const { callFrame } = byId.get(id)!;
    const parent = parents.get(id);
    const activity =
      activityByFunction.get(callFrame.functionName) ??
      activityOfSource(sourceOf(callFrame)) ??
      (parent === undefined ? 'other' : activityOf(parent));
    cache.set(id, activity);
    return activity;
  };

  const busySeconds = Object.fromEntries(activities.map((name) => [name, 0])) as Record<
    Activity,
    number
  >;
  let idleSeconds = 0;
  samples.forEach((id, index) => {
    const seconds = timeDeltas[index]! / 1e6;
    const activity = activityOf(id);
    if (activity === 'idle') idleSeconds += seconds;
    else busySeconds[activity] += seconds;
  });
  return { busySeconds, idleSeconds };
}

/** V8's names for what is not JavaScript. */
const activityByFunction: ReadonlyMap<string, Activity | 'idle'> = new Map([
  ['(idle)', 'idle'],
  ['(garbage collector)', 'garbage collection'],
] as const);

function activityOfSource(source: string): Activity | undefined {
  return activityBySource.find(([pattern]) => pattern.test(source))?.[1];
}

/** Finds the source file of a frame with the source map of its bundle. */
function sourceFinder(): (frame: Profiler.Profile['nodes'][number]['callFrame']) => string {
  const maps = new Map<string, SourceMap | undefined>();
  return ({ url, lineNumber, columnNumber }) => {
    if (!url.endsWith('/index.mjs')) return url;
    if (!maps.has(url)) {
      const payload = readFileSync(`${fileURLToPath(url)}.map`, 'utf8');
      maps.set(url, new SourceMap(JSON.parse(payload) as SourceMapPayload));
    }
    const entry = maps.get(url)!.findEntry(lineNumber, columnNumber);
    return 'originalSource' in entry ? entry.originalSource : url;
  };
}
