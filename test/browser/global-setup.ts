import setUpAll from '../global-setup.ts';
import { browserNames, findBrowser, missingBrowser } from './fixtures/browsers.ts';
import { findWebkit } from './fixtures/webkit.ts';

/** The setup of all tests. Also prints which browsers are missing. */
export default async function setUp(): Promise<void> {
  for (const name of browserNames) {
    if (findBrowser(name) === undefined) process.stderr.write(`\n${missingBrowser(name)}\n`);
  }
  if (findWebkit() === undefined) {
    const packages = 'apt-get install --no-install-recommends webkit2gtk-driver xvfb xauth';
    process.stderr.write(`\nWebKitGTK is missing: its tests are skipped. Debian: ${packages}\n`);
  }
  await setUpAll();
}
