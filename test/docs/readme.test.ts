import { join } from 'node:path';
import { writeState } from '../../local/start/state-file.ts';
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startService } from '../fixtures/service.ts';

test('each example of the tour gets the documented response', async () => {
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
    const documented = examples.flatMap(({ response }, index) =>
      response === undefined ? [] : [{ response, output: printed[index]! }],
    );
    expect(documented.length).toBeGreaterThanOrEqual(3);
    for (const { response, output } of documented) {
      // A block may print several responses; the documented one is the last.
      expect(withoutIds(output)).toMatch(new RegExp(`${escaped(withoutIds(response)!)}$`));
    }
    const [received] = printed.filter((output) => output.includes('web_push'));
    expect(received).toContain('"title":"Hello"');
  } finally {
    folder.remove();
    await service.stop();
  }
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
