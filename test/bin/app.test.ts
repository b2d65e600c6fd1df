import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let out: string;
beforeEach(() => {
  out = join(mkdtempSync(join(tmpdir(), 'carillon-')), 'cdk.out');
});
afterEach(() => {
  rmSync(join(out, '..'), { recursive: true, force: true });
});

/** Runs the app as the CDK command line does. @param ofUser the context in `~/.cdk.json`. */
function synthesize(context: Readonly<Record<string, unknown>>, ofUser = {}) {
  writeFileSync(join(out, '../.cdk.json'), JSON.stringify({ context: ofUser }));
  return spawnSync(process.execPath, ['--import', 'tsx', join('bin', 'app.ts')], {
    encoding: 'utf8',
    env: {
      ...process.env,
      CDK_OUTDIR: out,
      // The user's entries are the last ones, so that the app's own replace them.
      CDK_CONTEXT_JSON: JSON.stringify({ ...ofUser, ...context }),
      HOME: join(out, '..'),
      CDK_VALIDATION: 'false',
    },
  });
}

test('a missing VAPID subject is refused in one line', () => {
  const { status, stdout, stderr } = synthesize({});
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^carillon: setting vapidSubject is missing: set it to an address .*"\. Write it under "context" in cdk\.json, or use -c vapidSubject=…\n$/,
  );
  expect(existsSync(join(out, 'manifest.json'))).toBe(false);
});

test('invalid settings print one line each and write no assembly', () => {
  const { status, stdout, stderr } = synthesize({
    vapidSubject: 'mailto:push@carillon.net',
    subscribercap: '5',
    monthlySendCap: 'many',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trim().split('\n').sort()).toEqual([
    'carillon: setting monthlySendCap must be a whole number from 1 to 999999999; it is "many"',
    'carillon: unknown setting subscribercap; did you mean subscriberCap?',
  ]);
  expect(existsSync(join(out, 'manifest.json'))).toBe(false);
});

// Other apps may know them.
test('what the user has set for all apps is not judged, and a mistake of this app is', () => {
  const ofUser = { owner: 'ann', stages: 'beta', 'sub-domain': 7, subscribercap: 5 };
  const { status, stderr } = synthesize({ stage: 'dev', subscriberCaps: '5' }, ofUser);
  expect(status).toBe(1);
  expect(stderr).toBe('carillon: unknown setting subscriberCaps; did you mean subscriberCap?\n');
});
