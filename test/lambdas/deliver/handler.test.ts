import { handler } from '../../../lambdas/deliver/handler.ts';

test('an event with a project id is accepted', async () => {
  expect(await handler({ projectId: 'demo' })).toEqual({});
});

test.each([
  ['no project', {}],
  ['an invalid project id', { projectId: 'Demo!' }],
  ['a field that deliver does not know', { projectId: 'demo', other: 1 }],
])('an event with %s is refused', async (_, event) => {
  await expect(handler(event)).rejects.toThrow();
});
