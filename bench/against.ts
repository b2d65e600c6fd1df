import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { progress } from './runner.ts';

/** Least ms of an invocation that sends a broadcast: the others read or warm up. */
const broadcastMs = 50;

/**
 * Compares the CPU time of the functions that send a broadcast with that at another commit. Each commit has a worktree, and
 * is driven over HTTP by its own benchmark; both take turns.
 */
export async function compareWith(commit: string, subscribers: number, pairs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-against-'));
  const other = join(folder, 'worktree');
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', other, commit]);
  try {
    linkModules(resolve('node_modules'), join(other, 'node_modules'));
    return inTurns(pairs, (which) => cpuMsIn(which === 'now' ? '.' : other, folder, subscribers));
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other]);
    rmSync(folder, { recursive: true });
  }
}

/** Compares the CPU time of the functions for a broadcast in some languages with that for one in a single language. */
export function compareLanguages(languages: number, subscribers: number, pairs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-languages-'));
  try {
    return inTurns(pairs, (which) =>
      cpuMsIn('.', folder, subscribers, which === 'now' ? languages : 1),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inTurns(pairs: number, measure: (which: 'before' | 'now') => number) {
  return Array.from({ length: pairs }, (_, pair) => {
    progress(`Pair ${pair + 1} of ${pairs} …`);
    // The one that runs first finds other caches.
    const first = pair % 2 === 0 ? measure('before') : undefined;
    const now = measure('now');
    const before = first ?? measure('before');
    return { before, now, ratio: now / before };
  });
}

/** The packages of this worktree; its own workspaces. */
function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const isWorkspace = lstatSync(join(from, name)).isSymbolicLink();
    symlinkSync(isWorkspace ? readlinkSync(join(from, name)) : join(from, name), join(to, name));
  }
}

/** CPU time of the functions for one broadcast, ms. */
function cpuMsIn(root: string, folder: string, subscribers: number, languages?: number): number {
  const file = join(folder, 'cpu');
  rmSync(file, { force: true });
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      resolve('node_modules/tsx/dist/cli.mjs'),
      ...[
        'bench/broadcast.ts',
        '--subscribers',
        String(subscribers),
        '--json',
        '--node',
        'current',
        ...(languages === undefined ? [] : ['--languages', String(languages)]),
      ],
    ],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        CPU_FILE: file,
        NODE_OPTIONS: `--import ${resolve('bench/thread-cpu.mjs')}`,
        NODE_EXTRA_CA_CERTS: 'bench/certificate.pem',
      },
    },
  );
  if (status !== 0) throw new Error(stderr);
  const invocations = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return invocations
    .filter(({ type, ms }) => type === 'result' && ms > broadcastMs)
    .reduce((sum, { ms }) => sum + ms, 0);
}
