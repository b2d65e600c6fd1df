import { projectIdPattern } from '../../../contract/formats.ts';

/** The views of a project. */
export type ViewName = 'overview' | 'send' | 'notifications' | 'users' | 'browser';

/** What the page shows. It is in the URL's fragment, so that a reload shows it again. */
export type Place =
  | { readonly view: 'projects' }
  | { readonly view: ViewName; readonly projectId: string }
  | { readonly view: 'notification'; readonly projectId: string; readonly notificationId: string };

const viewNames: readonly string[] = ['send', 'notifications', 'users', 'browser'];

/** Reads a fragment, such as `#/projects/demo/send`. An unknown one is the list of projects. */
export function placeOf(fragment: string): Place {
  const [, root, projectId = '', view = 'overview', id, ...rest] = fragment.split('/');
  if (root !== 'projects' || !projectIdPattern.test(projectId) || rest.length > 0) return projects;
  // The view says that there is no notification with an invalid id either.
  if (view === 'notifications' && id !== undefined && /^[\w-]{1,64}$/.test(id)) {
    return { view: 'notification', projectId, notificationId: id };
  }
  if (id !== undefined) return projects;
  if (view === 'overview' || viewNames.includes(view)) {
    return { view: view as ViewName, projectId };
  }
  return projects;
}

export function fragmentOf(place: Place): string {
  if (place.view === 'projects') return '#/projects';
  const project = `#/projects/${place.projectId}`;
  if (place.view === 'overview') return project;
  if (place.view === 'notification') return `${project}/notifications/${place.notificationId}`;
  return `${project}/${place.view}`;
}

const projects: Place = { view: 'projects' };
