import { createContext, useContext } from 'react';
import { includes, routes } from '../../contract/routes.ts';
import type { ProjectResult } from '../../contract/schemas/project.ts';
import type { ProjectClient } from '../../sdk/server/project-client.ts';
import type { Place } from './routing/place.ts';
import type { SendForm } from './send/send-form.ts';

/** Whose key it is. */
export type Access = ProjectResult['access'];

/** What the person signed in with. It stays in memory: never in storage, cookies or the URL. */
export interface SignedIn {
  readonly projectId: string;
  readonly key: string;
  readonly access: Access;
}

/** Shared state of the views. */
export interface Session extends SignedIn {
  readonly client: ProjectClient;
  /** Whether `npm start` serves the page: only then this browser can subscribe. */
  readonly isLocal: boolean;
  /** The notification that is being written. It outlives its view, not the page. */
  readonly draft: SendForm;
  readonly setDraft: (change: (draft: SendForm) => SendForm) => void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  return useContext(SessionContext)!;
}

/** What a key allows: the service refuses the rest, and the page does not offer it. */
export function mayDo({ role }: Access): { readonly send: boolean; readonly remove: boolean } {
  return {
    send: includes(role, routes.send.role),
    remove: includes(role, routes.removeUser.role),
  };
}

/** Whether the key allows a view, and this page has it. */
export function isOffered({ view }: Pick<Place, 'view'>, { access, isLocal }: Session): boolean {
  if (view === 'local') return isLocal;
  return (view !== 'send' && view !== 'users') || mayDo(access).send;
}
