import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

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
export function pushPreferences(pushService: string) {
  return {
    'dom.push.connection.enabled': true,
    'dom.push.serverURL': `${pushService.replace(/^http/, 'ws')}/`,
    'dom.push.testing.allowInsecureServerURL': true,
  };
}

/** Keep Firefox's own first pages away from a new profile. */
const firstRunPreferences = {
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
};

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
    `Then open ${url} in it. Of other sites it gets no messages.`,
  ].join('\n');
}

export interface OpenFirefox {
  close(): Promise<void>;
}

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
): OpenFirefox {
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  const preferences = Object.entries({ ...pushPreferences(pushService), ...firstRunPreferences });
  writeFileSync(
    join(profile, 'user.js'),
    preferences
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const firefox = spawn(program, ['--no-remote', '--profile', resolve(profile), url], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let lastLine = '';
  firefox.stderr.on('data', (chunk: Buffer) => {
    lastLine = chunk.toString().trim().split('\n').at(-1) || lastLine;
  });
  let isClosing = false;
  const ended = once(firefox, 'close').then(
    ([code, signal]) => {
      if (code !== 0 && !isClosing) onFailure(`Firefox ended (${code ?? signal}): ${lastLine}`);
    },
    (error: Error) => onFailure(`Firefox could not start: ${error.message}`),
  );
  return {
    async close() {
      isClosing = true;
      firefox.kill();
      await ended;
    },
  };
}
