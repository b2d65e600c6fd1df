import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { startChildProcess } from 'aws-emulator/child-process';

const macProgram = '/Applications/Firefox.app/Contents/MacOS/firefox';

/** Finds Firefox's program: the variable `FIREFOX`, or its usual names and place. */
export function findFirefox(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter);
  const usual = ['firefox', 'firefox-esr'].flatMap((name) => folders.map((dir) => join(dir, name)));
  return (env.FIREFOX ? [env.FIREFOX] : [...usual, macProgram]).find((path) => existsSync(path));
}

/**
 * The preferences by which Firefox receives its messages from a local push service instead of Mozilla's.
 * @param pushService its origin.
 */
function pushPreferences(pushService: string) {
  return {
    'dom.push.connection.enabled': true,
    'dom.push.serverURL': `${pushService.replace(/^http/, 'ws')}/`,
    'dom.push.testing.allowInsecureServerURL': true,
  };
}

/** All preferences of a profile for a local push service. */
export function profilePreferences(pushService: string) {
  return {
    ...pushPreferences(pushService),
    // Windows of Firefox itself: the desktop may have no notifications, as in WSL, or not allow them.
    'alerts.useSystemBackend': false,
    // No pages but the given one, and no questions.
    'browser.aboutwelcome.enabled': false,
    'browser.sessionstore.resume_from_crash': false,
    'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'termsofuse.bypassNotification': true,
    'toolkit.startup.max_resumed_crashes': -1,
  };
}

export interface LocalBrowser {
  /** Origin of the push service. */
  readonly pushService: string;
  /** The page that Firefox opens. */
  readonly url: string;
}

/** What a person does to connect a Firefox by hand. */
export function manualSteps({ pushService, url }: LocalBrowser): string {
  const preferences = Object.entries(pushPreferences(pushService));
  const rows = preferences.map(([name, value]) => `  ${name.padEnd(40)}${value}`);
  return [
    'To connect a Firefox by hand, set these in about:config of a new profile (about:profiles):',
    ...rows,
    `Then open ${url} in it. It gets no messages of sites on the internet.`,
  ].join('\n');
}

export type OpenFirefox = ReturnType<typeof openFirefox>;

/** Firefox saves its state, which takes longer on a busy machine. */
const closeTimeoutMs = 10_000;

/**
 * Opens a Firefox that is connected to the local push service. A person may close it at any time.
 * @param profile its folder. It keeps the subscriptions for the next start.
 * @param onFailure called if Firefox cannot start or crashes, with a line that says why.
 */
export function openFirefox(
  program: string,
  profile: string,
  { pushService, url }: LocalBrowser,
  onFailure: (reason: string) => void,
) {
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  const preferences = Object.entries(profilePreferences(pushService));
  writeFileSync(
    join(profile, 'user.js'),
    preferences
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const command = [program, '--no-remote', '--profile', resolve(profile), url];
  const firefox = startChildProcess(command, closeTimeoutMs);
  let isClosing = false;
  void firefox.ended.then(({ code, errors }) => {
    const [lastLine] = errors.split('\n').slice(-1);
    if (code !== 0 && !isClosing) onFailure(`Firefox ended (${code}): ${lastLine}`);
  });
  return {
    async close() {
      isClosing = true;
      await firefox.stop();
    },
  };
}
