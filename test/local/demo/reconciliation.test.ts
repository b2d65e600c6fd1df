import { plain } from '../../../admin/terminal/terminal.ts';
import {
  differences,
  type NotificationReconciliation,
} from '../../../local/demo/reconciliation.ts';
import { notificationsText, totalsText } from '../../../local/demo/report.ts';

const counts = { attempted: 10, delivered: 7, removed: 2, failed: 1, shown: 6, clicked: 3 };
const { shown, clicked, ...deliveryCounts } = counts;

function notification(
  changes: Partial<NotificationReconciliation> = {},
): NotificationReconciliation {
  return {
    name: 'Broadcast',
    id: 'id',
    expected: counts,
    sendResponse: deliveryCounts,
    pushService: counts,
    tables: counts,
    ...changes,
  };
}

describe('differences', () => {
  it('returns nothing if every source has the expected counts or lacks them', () => {
    const totals = [{ name: 'Subscribers', expected: 8, sources: { 'usage counter': 8 } }];
    expect(differences([notification()], totals)).toEqual([]);
  });

  it('names the notification, the source and the count', () => {
    const differing = notification({
      sendResponse: { ...deliveryCounts, delivered: 8 },
      tables: { ...counts, clicked: 0 },
    });
    expect(differences([notification(), differing], [])).toEqual([
      'Broadcast: 8 delivered according to the send response, expected 7.',
      'Broadcast: 0 clicked according to the tables, expected 3.',
    ]);
  });

  it('finds counts that all sources agree on but that are not expected', () => {
    const zero = { attempted: 0, delivered: 0, removed: 0, failed: 0, shown: 0, clicked: 0 };
    const empty = notification({ sendResponse: zero, pushService: zero, tables: zero });
    expect(differences([empty], [])).toHaveLength(18);
  });

  it('names the source of a total', () => {
    const sources = { 'usage counter': 8, tables: 9 };
    expect(differences([], [{ name: 'Subscribers', expected: 8, sources }])).toEqual([
      'Subscribers: 9 according to the tables, expected 8.',
    ]);
  });
});

describe('notificationsText', () => {
  it('has one row per source and marks differences', () => {
    expect(
      notificationsText([notification({ tables: { ...counts, failed: 0 } })], plain).split('\n'),
    ).toEqual([
      '                 attempted  delivered  removed  failed  shown  clicked',
      '',
      'Broadcast',
      '  expected              10          7        2       1      6        3',
      '  send response         10          7        2       1',
      '  push service          10          7        2       1      6        3',
      '  tables                10          7        2     ≠ 0      6        3',
      '',
    ]);
  });
});

describe('totalsText', () => {
  it('has one line per total and marks differences', () => {
    const sources = { 'usage counter': 8, tables: 9 };
    expect(totalsText([{ name: 'Subscribers', expected: 8, sources }], plain)).toBe(
      'Subscribers: usage counter 8, tables ≠ 9\n',
    );
  });
});
