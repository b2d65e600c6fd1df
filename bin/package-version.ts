/**
 * The version of the packages. Until it is released, it names the commit: two builds of different commits have different
 * file names, and npm takes neither for the other.
 * @param released the version in package.json.
 * @param changelog whose first heading has the version that comes next.
 * @param commit its hash. Undefined: the folder is no clone.
 */
export function packageVersion(
  released: string,
  changelog: string,
  commit: string | undefined,
): string {
  const [heading = ''] = /^## .*$/m.exec(changelog) ?? [];
  const [, next] = /^## (\S+) \(Unreleased\)$/.exec(heading) ?? [];
  if (next === undefined || commit === undefined) return released;
  // In a version, a number must not start with 0 (semver §9).
  const name = /^0\d*$/.test(commit.slice(0, 7)) ? commit : commit.slice(0, 7);
  return `${next}-dev.${name}`;
}
