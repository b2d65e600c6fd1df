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
    const runs = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      progress(`Pair ${pair + 1} of ${pairs} …`);
      // The one that runs first finds other caches.
      const inTurn = pair % 2 === 0 ? [other, '.'] : ['.', other];
      const measured = inTurn.map((root) => cpuMsIn(root, join(folder, 'cpu'), subscribers));
      const [before, now] = pair % 2 === 0 ? measured : measured.toReversed();
      runs.push({ before: before!, now: now!, ratio: now! / before! });
    }
    return runs;
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other]);
    rmSync(folder, { recursive: true });
  }
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
function cpuMsIn(root: string, file: string, subscribers: number): number {
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
