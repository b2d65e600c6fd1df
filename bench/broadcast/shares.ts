import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What a send function's thread is busy with. */
export const activities = [
  'encrypting',
  'pushing',
  'reading',
  'removing',
  'collecting garbage',
  'the rest',
] as const;
export type Activity = (typeof activities)[number];

export interface Shares {
  /** Seconds on the processor. */
  readonly busy: Readonly<Record<Activity, number>>;
  /** Seconds with nothing to do but wait for answers. */
  readonly waiting: number;
}

/**
 * The activity of a frame, by the source it comes from; undefined where it serves several and its
 * callers tell more.
 */
const frames: readonly (readonly [pattern: RegExp, activity: Activity])[] = [
  [/lambdas\/push\/crypto/, 'encrypting'],
  [/lambdas\/push\/transport|^node:(_tls|internal\/tls)/, 'pushing'],
  [/lambdas\/store\/subscriptions/, 'removing'],
  // Pushes are the function's only traffic by TLS here; what comes by plain HTTP is the database's.
  [/lambdas\/store\/audience|node_modules\/@(aws-sdk|smithy)|^node:_http/, 'reading'],
];

/** Attributes a profile's samples, each by the innermost of its frames that is known. */
export function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Shares {
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sources = sourceFinder();

  const known = new Map<number, Activity | 'waiting'>();
  const activityOf = (id: number): Activity | 'waiting' => {
    const remembered = known.get(id);
    if (remembered !== undefined) return remembered;
    const { callFrame } = byId.get(id)!;
    const parent = parents.get(id);
    const found =
      special[callFrame.functionName] ??
      activityOfSource(sources(callFrame)) ??
      (parent === undefined ? 'the rest' : activityOf(parent));
    known.set(id, found);
    return found;
  };

  const busy = Object.fromEntries(activities.map((name) => [name, 0])) as Record<Activity, number>;
  let waiting = 0;
  samples.forEach((id, index) => {
    const seconds = timeDeltas[index]! / 1e6;
    const activity = activityOf(id);
    if (activity === 'waiting') waiting += seconds;
    else busy[activity] += seconds;
  });
  return { busy, waiting };
}

const special: Readonly<Record<string, Activity | 'waiting'>> = {
  '(idle)': 'waiting',
  '(garbage collector)': 'collecting garbage',
};

function activityOfSource(source: string): Activity | undefined {
  return frames.find(([pattern]) => pattern.test(source))?.[1];
}

/** Finds a frame's source through the source map beside its bundle. */
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
