import type { ProjectRef } from '../../../contract/project.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { newNotification, sendsOf } from './stored-notifications.ts';

const database = useDatabase();

/** A project with one notification, and two later ones that were cancelled before they began. */
async function projectWithCancelled(): Promise<ProjectRef> {
  const { ref: project } = await database.createProject();
  const [first, ...cancelled] = ['1', '2', '3'].map((id) => ({
    ...newNotification(project),
    id,
  }));
  await sendsOf(database).begin(first!, 'r', undefined, null);
  for (const one of cancelled) await sendsOf(database).cancel(one, 'r');
  return project;
}

const store = () => notificationStore(database.dynamo, database.tables.NOTIFICATIONS_TABLE);

async function newest(limit: number, from?: string): Promise<readonly string[]> {
  const found = await store().newest(await projectWithCancelled(), limit, from);
  return found.map(({ id }) => id);
}

test('the list goes on after cancelled notifications', async () => {
  expect(await newest(1)).toEqual(['1']);
});

test('the list includes the notification that it starts from', async () => {
  expect(await newest(10, '1')).toEqual(['1']);
});

test('a notification is found, unless it was cancelled', async () => {
  const project = await projectWithCancelled();
  expect(await store().find(project, '1')).toMatchObject({ id: '1', content: { title: 'T' } });
  expect(await store().find(project, '2')).toBeUndefined();
  expect(await store().find(project, '4')).toBeUndefined();
});
