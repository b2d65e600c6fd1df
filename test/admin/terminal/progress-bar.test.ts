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

  it('draws nothing without a terminal', () => {
    const terminal = testTerminal();
    const bar = progressBar(terminal.messages, 'deleting', 200);
    bar.update(200);
    bar.stop();
    expect(terminal.written().messages).toBe('');
  });
});
