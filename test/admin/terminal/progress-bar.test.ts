import { stripVTControlCharacters } from 'node:util';
import { progressBar } from '../../../admin/terminal/progress-bar.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

describe('progressBar', () => {
  it('draws the count on a terminal', () => {
    const terminal = testTerminal({ isTTY: true });
    const bar = progressBar(terminal.messages, 'deleting', 200);
    bar.update(200);
    bar.stop();
    expect(terminal.written().messages).toContain('200/200');
  });

  it.each([
    [100, 10_000, '10s'],
    [100, 125_000, '2m 5s'],
    [50, 1_600_000, '1h 20m'],
    [0, 5000, ''],
  ])('says after %i of 200 items and %i ms: %s left', (done, elapsedMs, left) => {
    const terminal = testTerminal({ isTTY: true });
    let now = 0;
    const bar = progressBar(terminal.messages, 'importing', 200, () => now);
    now = elapsedMs;
    bar.update(done);
    bar.stop();
    const text = stripVTControlCharacters(terminal.written().messages);
    expect(text.trimEnd().endsWith(`${done}/200  ${left}`.trimEnd())).toBe(true);
  });

  it('draws nothing without a terminal', () => {
    const terminal = testTerminal();
    const bar = progressBar(terminal.messages, 'deleting', 200);
    bar.update(200);
    bar.stop();
    expect(terminal.written().messages).toBe('');
  });
});
