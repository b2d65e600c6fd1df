import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { emitTypes } from '../../../sdk/build/emit-types.ts';
import { temporaryFolder } from '../../fixtures/folder.ts';

const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc');

/** Compiles outside the repository, where there is no zod. */
const code = `
  import { init } from './carillon.mjs';
  import { CarillonServer } from './carillon-server.mjs';
  const carillon = new CarillonServer({ baseUrl: '', projectId: '', secretKey: '' });
  export async function use() {
    const { delivered } = await carillon.send({ title: 'Hello', userIds: ['ada'] });
    const { status } = await carillon.send({ title: 'Hello' }, { respondAsync: true });
    const { shown, failures } = await carillon.notification('an-id');
    const counts: number[] = [delivered, shown, failures?.throttled ?? 0];
    const isSending: boolean = status === 'sending';
    return { counts, isSending, init };
  }
  // @ts-expect-error
  carillon.send({ title: 'Hello', userId: ['ada'] });
  // @ts-expect-error
  carillon.send({ body: 'Hello' });
  // @ts-expect-error
  carillon.send({ title: 'Hello' }, { respondAsync: true }).then(({ delivered }) => delivered);
`;

test('the types of both clients need no other package, and refuse mistyped calls', () => {
  const folder = temporaryFolder();
  try {
    emitTypes(process.cwd(), folder.path);
    folder.write('use.mts', code);
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    const { stdout } = spawnSync(process.execPath, [tsc, ...options, 'use.mts'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  } finally {
    folder.remove();
  }
}, 120_000);
