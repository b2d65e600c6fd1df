import { createContext, type ReactNode, useContext } from 'react';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import type { ProjectClient } from '../../sdk/server/project-client.ts';
import type { Place } from './place.ts';
import type { useDraft } from './send/draft.ts';

/** What the person signed in with. It stays in memory: never in storage, cookies or the URL. */
export interface SignedIn {
  readonly projectId: string;
  readonly key: string;
  /** Whose key it is. */
  readonly access: ProjectResult['access'];
}

/** What is asked before something that cannot be undone. */
export interface Question {
  /** A verb and its object, with its number. */
  readonly title: string;
  /** The consequence, in one sentence. */
  readonly text: ReactNode;
  /** The text of the button that confirms: the verb of the title. */
  readonly confirm: string;
  /**
   * What is asked in its place, if what it says is no longer so, or if an answer leads to another question.
   * @param values of the fields in the text.
   */
  readonly next?: (values: FormData) => Promise<Question | undefined>;
  readonly onConfirm: (values: FormData) => void;
  readonly isDangerous?: boolean;
}

/** Shared state of the views. */
export interface Session extends SignedIn {
  readonly client: ProjectClient;
  /** Whether `npm start` serves the page: only then this browser can subscribe. */
  readonly isLocal: boolean;
  /** Asks, in a dialog. Undefined: no longer. */
  readonly ask: (question: Question | undefined) => void;
  /** Asks only if the draft would be lost. @param confirm the text of the button. */
  readonly guardDraft: (title: string, confirm: string, lose: () => void) => void;
  readonly signOut: () => void;
  readonly place: Place;
  readonly replacePlace: (to: Place) => void;
  /** The address of a view of the project, or of a notification. */
  readonly href: (view: Place['view'], notificationId?: string) => string;
  /** The address of the list of notifications as it was left: the way back from one of them. */
  readonly listHref: string;
  /** Whether the key may call a route: what the service refuses, the page does not offer. */
  readonly may: (route: 'send' | 'getUser' | 'removeUser') => boolean;
  /** The notification that is being written. */
  readonly writing: ReturnType<typeof useDraft>;
  /** The person's own user id, to which tests go. Undefined until it was asked for. */
  readonly testUserId: string | undefined;
  readonly setTestUserId: (userId: string) => void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session. Every view has one; the page before it has none. */
export function useSession(): Session {
  return useContext(SessionContext)!;
}

/** Whether the key allows a view, and this page has it. */
export function isOffered(
  view: Place['view'],
  { may, isLocal }: Pick<Session, 'may' | 'isLocal'>,
): boolean {
  if (view === 'local') return isLocal;
  return view !== 'send' || may('send');
}
