import { paintFor } from '../../../admin/terminal/terminal.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

describe('paintFor', () => {
  const red = '\u001b[31mx\u001b[39m';

  it('adds no colours if NO_COLOR is set and not empty', () => {
    const { output } = testTerminal({ isTTY: true });
    expect(paintFor(output, { NO_COLOR: '1' })('red', 'x')).toBe('x');
    expect(paintFor(output, { NO_COLOR: '' })('red', 'x')).toBe(red);
  });
});
