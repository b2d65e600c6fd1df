import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const folders = ['aws-emulator', 'bench', 'examples', 'local'];
const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|mjs)$/.test(file) && !file.includes('/test/'));

/** The calls of `listen` in a file, with their arguments. */
const listens = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/\.listen\(([^)]*)\)/g)].map(
    ([, parameters = '']): [file: string, parameters: string] => [file, parameters],
  ),
);

test('some servers are found', () => {
  expect(listens.map(([file]) => file)).toEqual(
    expect.arrayContaining(['aws-emulator/gateway.ts', 'examples/server-rendered/server.js']),
  );
});

// The keys of a project, and users that nobody has signed in, would be on the network.
test.each(listens)('the server of %s listens on the loopback interface only', (_, parameters) => {
  // `host`: a random address of 127.0.0.0/8.
  expect(parameters).toMatch(/^[\w.]+, ('127\.0\.0\.1'|host)(,|$)/);
});
