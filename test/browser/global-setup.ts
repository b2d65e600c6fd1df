import setUpAll from '../global-setup.ts';
import { browserNames, findBrowser, missingBrowser } from './fixtures/browsers.ts';

/** As for all tests, and says which browsers are missed. */
export default async function setUp(): Promise<void> {
  for (const name of browserNames) {
    if (findBrowser(name) === undefined) process.stderr.write(`\n${missingBrowser(name)}\n`);
  }
  await setUpAll();
}
