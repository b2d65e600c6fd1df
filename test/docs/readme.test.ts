import { join } from 'node:path';
import { stateOf, writeState } from '../../local/state-file.ts';
import { examplesIn, run, withoutIds } from '../fixtures/documented-example.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startService } from '../fixtures/service.ts';

test('each example of the tour gets the documented response', async () => {
  const service = await startService();
  const folder = temporaryFolder();
  try {
    const state = stateOf(service.stack, await service.createProject());
    await writeState(state, join(folder.path, '.carillon/local.json'));
    const examples = examplesIn('README.md', '## Tour', '## Deploy');
    const outputs = await run(examples, { cwd: folder.path, env: {} });
    const documented = examples.flatMap(({ response }, at) =>
      response === undefined ? [] : [{ response, output: outputs[at]! }],
    );
    expect(documented.length).toBeGreaterThanOrEqual(3);
    for (const { response, output } of documented) {
      // A block may print several responses; the documented one is the last.
      expect(withoutIds(output)).toMatch(new RegExp(`${escaped(withoutIds(response)!)}$`));
    }
    const received = outputs.find((output) => output.includes('web_push'));
    expect(received).toContain('"title":"Hello"');
    expect(received).toContain('"shown":1');
  } finally {
    folder.remove();
    await service.stop();
  }
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
