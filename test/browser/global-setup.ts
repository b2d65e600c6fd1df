import setUpAll from '../global-setup.ts';
import { browserNames, findBrowser, missingBrowser } from './fixtures/browsers.ts';

/** The setup of all tests. Also prints which browsers are missing. */
export default async function setUp(): Promise<void> {
  for (const name of browserNames) {
    if (findBrowser(name) === undefined) process.stderr.write(`\n${missingBrowser(name)}\n`);
  }
  await setUpAll();
}
