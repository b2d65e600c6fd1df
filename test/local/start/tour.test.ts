import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { demoProject } from '../../../local/start/demo-project.ts';
import { tour } from '../../../local/start/tour.ts';
import { startLocalStack } from '../../fixtures/local-stack.ts';

test('the commands of the tour work when they are pasted in order', async () => {
  const stack = await startLocalStack();
  try {
    const project = await demoProject(stack.dynamodb, undefined);
    const { applicationServerKey } = project;
    const browser = stack.pushService.subscribe({ applicationServerKey });
    const { baseUrl } = stack;
    const text = tour(
      { baseUrl, pushService: stack.pushService.origin, project },
      { id: browser.id, subscription: browser.toJSON() },
    );
    expect(text).toContain(project.secretKey);

    const [, lines = ''] = text.split('Try it: paste these commands\n');
    const { stdout } = await promisify(execFile)('sh', ['-c', lines]);
    const responses = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const counts = { attempted: 1, delivered: 1, removed: 0, failed: 0 };
    const ok = { ok: true };
    expect(responses).toEqual([
      ok,
      { id: expect.any(String), ...counts },
      [expect.objectContaining({ data: expect.objectContaining({ web_push: 8030 }) })],
      ok,
      ok,
      ok,
    ]);
  } finally {
    await stack.stop();
  }
});
