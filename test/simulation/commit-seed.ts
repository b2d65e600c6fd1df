import { execFileSync } from 'node:child_process';

/** A seed that changes with the commit. Outside of a repository, such as in an archive: undefined. */
export function commitSeed(): number | undefined {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    return undefined;
  }
}
