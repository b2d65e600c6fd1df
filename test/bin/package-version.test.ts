import { packageVersion } from '../../bin/package-version.ts';

const commit = '3f5f7b3d0c2a4e6f8a1b3c5d7e9f0a2b4c6d8e0f';
const unreleased = '# Changelog\n\n## 1.1.0 (Unreleased)\n\n## 1.0.0 (2026-12-01)\n';

test.each([
  ['names the commit until the release', unreleased, commit, '1.1.0-dev.3f5f7b3'],
  [
    'names it whole if it starts like a number with 0',
    unreleased,
    `0123456${commit}`,
    `1.1.0-dev.0123456${commit}`,
  ],
  ['names it shortly if it is a number', unreleased, `1234567${commit}`, '1.1.0-dev.1234567'],
  ['is that of package.json without a clone', unreleased, undefined, '1.0.0'],
  [
    'is that of package.json when it is released',
    unreleased.replace('Unreleased', '2026-12-24'),
    commit,
    '1.0.0',
  ],
  ['looks at the first heading only', `## 1.2.0 (2026-12-24)\n${unreleased}`, commit, '1.0.0'],
])('%s', (_, changelog, hash, version) => {
  expect(packageVersion('1.0.0', changelog, hash)).toBe(version);
});
