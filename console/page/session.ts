import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ProjectClient } from '../../sdk/server/project-client.ts';
import type { ConsoleSettings } from '../settings.ts';
import type { SendForm } from './send/send-form.ts';

/** Shared state of the views of a project. */
export interface Session {
  readonly settings: ConsoleSettings;
  readonly client: ProjectClient;
  /** The notification that is being written. It outlives its view, not the page. */
  readonly draft: SendForm;
  readonly setDraft: (change: (draft: SendForm) => SendForm) => void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  return useContext(SessionContext)!;
}
