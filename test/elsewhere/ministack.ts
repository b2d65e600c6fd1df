import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { installPythonTool } from '../../bin/python-tool.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { busyPort } from '../fixtures/ports.ts';
import { until } from '../fixtures/until.ts';

/** Starts ministack, an emulator of AWS that others wrote. Undefined if it cannot be installed. */
export async function startMinistack(account: string, region: string) {
  const programs = await installPythonTool('ministack==1.5.33');
  if (programs === undefined) return undefined;
  const folder = temporaryFolder();
  const { port, release } = await busyPort();
  await release();
  const server = spawn(join(programs, 'python'), [join(import.meta.dirname, 'serve.py')], {
    env: {
      ...{ PATH: process.env.PATH, TMPDIR: folder.path, S3_DATA_DIR: join(folder.path, 's3') },
      ...{ GATEWAY_PORT: `${port}`, BIND_HOST: '127.0.0.1' },
      ...{ MINISTACK_REGION: region, MINISTACK_ACCOUNT_ID: account },
    },
    stdio: 'ignore',
    // The workers of its functions end with it.
    detached: true,
  });
  const address = `http://127.0.0.1:${port}`;
  await until('ministack', () =>
    fetch(`${address}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    address,
    lacks: ['composite alarms, saved queries and alarms with metric math, which do nothing there'],
    async stop() {
      const closed = once(server, 'close');
      process.kill(-server.pid!, 'SIGTERM');
      await closed;
      folder.remove();
    },
  };
}
