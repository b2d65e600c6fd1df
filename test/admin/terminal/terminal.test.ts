import { paintFor } from '../../../admin/terminal/terminal.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

describe('paintFor', () => {
  const red = '\u001b[31mx\u001b[39m';

  it('colours what goes to a terminal', () => {
    expect(paintFor(testTerminal({ isTTY: true }).output, {})('red', 'x')).toBe(red);
  });

  it('leaves what is piped on as it is', () => {
    expect(paintFor(testTerminal().output, {})('red', 'x')).toBe('x');
  });

  it('obeys NO_COLOR, unless it is empty', () => {
    const { output } = testTerminal({ isTTY: true });
    expect(paintFor(output, { NO_COLOR: '1' })('red', 'x')).toBe('x');
    expect(paintFor(output, { NO_COLOR: '' })('red', 'x')).toBe(red);
  });
});
