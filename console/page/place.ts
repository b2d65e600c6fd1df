import { projectIdPattern } from '../../contract/wire/formats.ts';

/** The views, in the order of the menu. `send` is opened by a button. `local`: what only a local stack has. */
export const viewTitles = {
  overview: 'Overview',
  notifications: 'Notifications',
  audience: 'Audience',
  settings: 'Settings',
  local: 'Local stack',
  send: 'New notification',
} as const;
export type ViewName = keyof typeof viewTitles;

/** What the page shows. It is in the URL's fragment, so that a reload shows it again. */
export interface Place {
  readonly view: ViewName | 'notification';
  readonly projectId: string;
  /** The filters of a list, as in a URL. */
  readonly query?: string;
  /** Of the view of a notification. */
  readonly notificationId?: string | undefined;
}

/** Reads a fragment, such as `#/projects/demo/send`. Undefined: it names no place. */
export function placeOf(fragment: string): Place | undefined {
  const [path = '', query] = fragment.split(/\?(.*)/s);
  const [, root, projectId = '', view = 'overview', id, ...rest] = path.split('/');
  if (root !== 'projects' || !projectIdPattern.test(projectId) || rest.length > 0) return undefined;
  // The view says that there is no notification with an invalid id either.
  if (view === 'notifications' && id !== undefined && /^[\w-]{1,64}$/.test(id)) {
    return { view: 'notification', projectId, notificationId: id };
  }
  if (id !== undefined || !Object.hasOwn(viewTitles, view)) return undefined;
  return { view: view as ViewName, projectId, ...(query && { query }) };
}

export function fragmentOf(place: Place): string {
  const project = `#/projects/${place.projectId}`;
  if (place.view === 'overview') return project;
  if (place.view === 'notification') return `${project}/notifications/${place.notificationId}`;
  return `${project}/${place.view}${place.query ? `?${place.query}` : ''}`;
}
