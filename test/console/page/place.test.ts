import { fragmentOf, type Place, placeOf } from '../../../console/page/place.ts';

const notificationId = '5e0c7b0e-3c3f-4a54-9d53-0f5d9a3c7f10';

test.each<[string, Place]>([
  ['#/projects/demo', { view: 'overview', projectId: 'demo' }],
  ['#/projects/demo/send', { view: 'send', projectId: 'demo' }],
  ['#/projects/demo/notifications', { view: 'notifications', projectId: 'demo' }],
  [
    '#/projects/demo/notifications?search=a%3F&stage=progress',
    { view: 'notifications', projectId: 'demo', query: 'search=a%3F&stage=progress' },
  ],
  [
    `#/projects/demo/notifications/${notificationId}`,
    { view: 'notification', projectId: 'demo', notificationId },
  ],
  [
    '#/projects/demo/notifications/no-uuid',
    { view: 'notification', projectId: 'demo', notificationId: 'no-uuid' },
  ],
  ['#/projects/demo/local', { view: 'local', projectId: 'demo' }],
  ['#/projects/demo/settings', { view: 'settings', projectId: 'demo' }],
  ['#/projects/send/audience', { view: 'audience', projectId: 'send' }],
])('%s is a place, and the fragment of that place', (fragment, place) => {
  expect(placeOf(fragment)).toEqual(place);
  expect(fragmentOf(place)).toBe(fragment);
});

test.each([
  '',
  '#/projects',
  '#',
  '#main',
  '#/projects/',
  '#/projects/Not-an-id',
  '#/projects/demo/nothing',
  '#/projects/demo/constructor',
  '#/projects/demo/notification',
  '#/projects/demo/send/more',
  '#/projects/demo/notifications/no%20id',
  `#/projects/demo/notifications/${notificationId}/more`,
  '#/other/demo',
])('%p names no place', (fragment) => {
  expect(placeOf(fragment)).toBeUndefined();
});
