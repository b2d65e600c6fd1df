import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { freePort } from '../fixtures/ports.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { openConsole } from './fixtures/console-page.ts';
import { driven, type Firefox } from './fixtures/firefox.ts';

describeWith('firefox', 'npm start -- --browser', (executablePath) => {
  let folder: Folder;
  let port: number;
  let child: ChildProcess;

  beforeEach(async () => {
    folder = temporaryFolder();
    port = await freePort();
  });
  afterEach(async () => {
    await stop();
    folder.remove();
  });

  /** Runs the entry point of `npm start` until it is ready. @returns what it printed. */
  async function start(FIREFOX: string): Promise<() => string> {
    child = spawn(process.execPath, ['--import', 'tsx', 'local/start.ts', '--browser'], {
      env: { ...process.env, DATA_DIR: folder.path, PORT: String(port), FIREFOX },
      detached: true,
    });
    let printed = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      printed += chunk;
    });
    await until('the start', async () => printed.includes('Press Ctrl-C to stop.'));
    return () => printed;
  }

  /** As Ctrl-C in a terminal does, which every process of the group gets. */
  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    process.kill(-child.pid!, signal);
    const [code] = await once(child, 'exit');
    return code;
  }

  /** The page that the command opened. */
  const openedPage = ({ browser }: Firefox) =>
    until('the page', async () =>
      (await browser.pages()).find((page) => page.url().endsWith('/console#/projects/demo/local')),
    );

  /** Connects to the Firefox that was opened. */
  async function connect(): Promise<Firefox> {
    const file = join(folder.path, String(port), 'firefox', 'WebDriverBiDiServer.json');
    const { ws_host, ws_port } = await until('Firefox', () =>
      // Until Firefox has written it whole.
      readFile(file, 'utf8')
        .then(JSON.parse)
        .catch(() => undefined),
    );
    // The next start must not connect to this one.
    rmSync(file);
    const browserWSEndpoint = `ws://${ws_host}:${ws_port}/session`;
    return driven(await puppeteer.connect({ protocol: 'webDriverBiDi', browserWSEndpoint }));
  }

  test('opens a Firefox that receives notifications, also after the command was killed', async () => {
    // A window is not wanted here.
    const program = folder.write(
      'firefox.sh',
      `#!/bin/sh
      exec '${executablePath}' --headless --remote-debugging-port 0 --remote-allow-system-access "$@"\n`,
    );
    chmodSync(program, 0o700);
    const baseUrl = `http://localhost:${port}`;

    await start(program);
    const firefox = await connect();
    const tab = await openConsole(firefox.browser, `${baseUrl}/`, await openedPage(firefox));
    await tab.expectView('Local stack');
    await tab.click('button', 'Subscribe');
    await firefox.allowNotifications();
    await tab.expectText('#browser-status', 'Subscribed');
    const secretKey = readFileSync(
      join(folder.path, String(port), 'demo-secret-key'),
      'utf8',
    ).trim();
    const carillon = new CarillonServer({ baseUrl, projectId: 'demo', secretKey });
    expect(await carillon.send({ title: 'First' })).toMatchObject({ delivered: 1 });
    await firefox.clickNotification('First');
    await stop('SIGKILL');
    await until('the end of Firefox', () => firefox.hasEnded);

    const printed = await start(program);
    const again = await connect();
    const { id, delivered } = await carillon.send({ title: 'Second' });
    expect(delivered).toBe(1);
    await again.clickNotification('Second');
    await until('the click', async () => (await carillon.notification(id)).clicked === 1);
    expect(await stop()).toBe(0);
    expect(printed()).toMatch(/Stopping …\n/);
    await until('the end of Firefox', () => again.hasEnded);
  });

  test('keeps running when a person closes Firefox', async () => {
    const program = folder.write('firefox.sh', '#!/bin/sh\n: > "$3/closed"\n');
    chmodSync(program, 0o700);
    const printed = await start(program);
    const file = join(folder.path, String(port), 'firefox', 'closed');
    await until('the end of Firefox', () => existsSync(file));
    expect((await fetch(`http://localhost:${port}`)).status).toBe(200);
    expect(await stop()).toBe(0);
    expect(printed()).not.toContain('Firefox ended');
  });

  test('without Firefox, says how to connect one by hand, and runs', async () => {
    const printed = await start('/no/such/firefox');
    await until('the steps', async () => printed().includes('Then open'));
    expect(printed()).toContain(
      `dom.push.serverURL                      ws://127.0.0.1:${port + 1}/`,
    );
    expect((await fetch(`http://localhost:${port}`)).status).toBe(200);
  });

  test('a Firefox that cannot start is reported with its own message', async () => {
    const program = folder.write('firefox.sh', '#!/bin/sh\necho "Error: no DISPLAY" >&2; exit 1\n');
    chmodSync(program, 0o700);
    const printed = await start(program);
    await until('the steps', async () => printed().includes('Then open'));
    expect(printed()).toContain(
      'Firefox ended (1): Error: no DISPLAY\nTo connect a Firefox by hand',
    );
  });
});
