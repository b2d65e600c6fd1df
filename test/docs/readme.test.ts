import { withoutIds } from '../fixtures/documented-example.ts';
import { startService } from '../fixtures/service.ts';
import { runTour } from '../fixtures/tour.ts';

test('each example of the tour gets the documented response', async () => {
  const service = await startService();
  try {
    const examples = await runTour(service, service.stack.baseUrl);
    const documented = examples.filter(({ response }) => response !== undefined);
    expect(documented.length).toBeGreaterThanOrEqual(3);
    for (const { response, output } of documented) {
      // A block may print several responses; the documented one is the last.
      expect(withoutIds(output)).toMatch(new RegExp(`${escaped(withoutIds(response)!)}$`));
    }
    const received = examples.find(({ output }) => output.includes('web_push'));
    expect(received?.output).toContain('"title":"Hello"');
    expect(received?.output).toContain('"shown":1');
  } finally {
    await service.stop();
  }
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
