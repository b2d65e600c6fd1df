import { ownersText } from '../../../console/page/notification-view.tsx';
import type { NotificationResult } from '../../../contract/wire/notification.ts';

test.each<[delivered: number, failures: NotificationResult['failures'], text: string | undefined]>([
  [1, undefined, 'One has “Doors” already'],
  [4100, { refused: 3 }, '4,100 have “Doors” already'],
  [
    4100,
    { interrupted: 100, no_response: 20 },
    '4,100 have “Doors” already, and 120 more may have it',
  ],
  [0, { interrupted: 397 }, '397 may have “Doors” already'],
  [0, { key_mismatch: 397 }, undefined],
])('of %d delivered and %j failed, a copy says: %s', (delivered, failures, text) => {
  expect(ownersText({ title: 'Doors', delivered, failures })).toBe(text);
});
