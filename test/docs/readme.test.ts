import { join } from 'node:path';
import { writeState } from '../../local/start/state-file.ts';
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startService } from '../fixtures/service.ts';

test('the tour, pasted line by line, is answered as documented', async () => {
  const service = await startService();
  const folder = temporaryFolder();
  try {
    const { projectId, secretKey, applicationServerKey } = await service.createProject();
    await writeState(
      {
        baseUrl: service.stack.baseUrl,
        pushService: service.stack.pushService.origin,
        dynamodb: service.stack.dynamodb,
        project: { projectId, secretApiKey: secretKey, applicationServerKey },
      },
      join(folder.path, '.carillon', 'local.json'),
    );
    const examples = examplesIn('README.md', '## Tour', '## Deploy');
    const printed = await run(examples, { cwd: folder.path, env: {} });
    const answered = examples.flatMap(({ answer }, index) =>
      answer === undefined ? [] : [{ answer, printed: printed[index]! }],
    );
    expect(answered.length).toBeGreaterThanOrEqual(3);
    for (const { answer, printed: one } of answered) {
      // A block may print more than one answer; the documented one is the last.
      expect(withoutIds(one)).toMatch(new RegExp(`${escaped(withoutIds(answer)!)}$`));
    }
    const [received] = printed.filter((one) => one.includes('web_push'));
    expect(received).toContain('"title":"Hello"');
  } finally {
    folder.remove();
    await service.stop();
  }
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
