import { plain } from '../../../admin/terminal/terminal.ts';
import { type Account, differences } from '../../../local/demo/reconciliation.ts';
import { figuresText, reconciliationText } from '../../../local/demo/report.ts';

const tally = { attempted: 10, delivered: 7, removed: 2, failed: 1, shown: 6, clicked: 3 };
const { shown, clicked, ...answered } = tally;

function account(changes: Partial<Account> = {}): Account {
  return {
    what: 'To all',
    id: 'id',
    expected: tally,
    answered,
    seen: tally,
    stored: tally,
    ...changes,
  };
}

describe('differences', () => {
  it('finds none where all witnesses agree, each on what it speaks of', () => {
    const figures = [{ what: 'Left', expected: 8, sources: { 'the counter says': 8 } }];
    expect(differences([account()], figures)).toEqual([]);
  });

  it('names notification, witness and number of each', () => {
    const differing = account({
      answered: { ...answered, delivered: 8 },
      stored: { ...tally, clicked: 0 },
    });
    expect(differences([account(), differing], [])).toEqual([
      'To all: the service answered 8 delivered, 7 were expected.',
      'To all: the tables hold 0 clicked, 3 were expected.',
    ]);
  });

  it('finds what all witnesses agree on and nobody expected', () => {
    const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0, shown: 0, clicked: 0 };
    const empty = account({ answered: nothing, seen: nothing, stored: nothing });
    expect(differences([empty], [])).toHaveLength(18);
  });

  it('names the source of a figure', () => {
    const sources = { 'the counter says': 8, 'the tables hold': 9 };
    expect(differences([], [{ what: 'Left', expected: 8, sources }])).toEqual([
      'Left: the tables hold 9, 8 were expected.',
    ]);
  });
});

describe('reconciliationText', () => {
  it('sets the witnesses below each other and marks what differs', () => {
    expect(
      reconciliationText([account({ stored: { ...tally, failed: 0 } })], plain).split('\n'),
    ).toEqual([
      '                        attempted  delivered  removed  failed  shown  clicked',
      '',
      'To all',
      '  should be                    10          7        2       1      6        3',
      '  the service answered         10          7        2       1',
      '  the push service saw         10          7        2       1      6        3',
      '  the tables hold              10          7        2     ≠ 0      6        3',
      '',
    ]);
  });
});

describe('figuresText', () => {
  it('gives each figure a line and marks what differs', () => {
    const sources = { 'the counter says': 8, 'the tables hold': 9 };
    expect(figuresText([{ what: 'Left', expected: 8, sources }], plain)).toBe(
      'Left: the counter says 8, the tables hold ≠ 9\n',
    );
  });
});
