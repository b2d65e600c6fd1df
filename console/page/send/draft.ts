import { type QueryClient, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { limits } from '../../../contract/wire/limits.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import type { ProjectClient } from '../../../sdk/server/project-client.ts';
import { capitalized } from '../format.ts';
import { afterPauses } from '../pauses.ts';
import { emptySendForm, firstForm, readSendForm, type SendForm, whomText } from './send-form.ts';

/**
 * A notification that is being written. It survives its view and a reload, and goes out at most once: its id is the
 * `Idempotency-Key`, and once it was attempted its form is locked. Whoever edits it after that, or sends it again, says
 * so to a sentence that names who may have it, and gets a draft with another id.
 */
export interface Draft {
  readonly id: string;
  readonly form: SendForm;
  /** Epoch milliseconds of the first attempt whose outcome nobody knows. Present: the form is locked. */
  readonly attemptedAt?: number;
  /** Whether the service has responded that nothing was sent, and may keep the body under this key. */
  readonly isKept?: true;
  /** Who has, or may have, an earlier one like it. A sentence. */
  readonly earlier?: string;
}

export function newDraft(form: SendForm, earlier?: string): Draft {
  return { id: crypto.randomUUID(), form, ...(earlier && { earlier }) };
}

/** Such as `Everyone may have “Doors open” already`: of a draft whose outcome nobody knows. */
export function mayHave({ form }: Draft): string {
  const whom = capitalized(whomText(readSendForm(form).notification));
  return `${whom} may have “${form.title.trim()}” already`;
}

/** What is lost with a draft. */
export function lossText(draft: Draft): string {
  const title = draft.form.title.trim();
  const named = title === '' ? 'Your draft' : `Your draft “${title}”`;
  return draft.attemptedAt === undefined
    ? `${named} is lost.`
    : `${mayHave(draft)}. Then nobody can find out with the draft, because it is lost.`;
}

/** Whether a repetition under the same key still finds out what became of the draft. With an hour for clocks. */
export function canFindOut({ attemptedAt = 0 }: Draft, nowMs: number): boolean {
  return nowMs - attemptedAt < (limits.idempotencyHours - 1) * 60 * 60_000;
}

/**
 * Whether an error says that nothing was sent. A gateway's 5xx has a cause; the service's own `unavailable` has none,
 * and means that nobody was attempted.
 * @param isRepetition whether an earlier request may have gone out: then only a refusal of the body itself says so,
 *   because it was the same then.
 */
export function saysNothingSent(error: unknown, isRepetition: boolean): boolean {
  if (!(error instanceof CarillonError)) return false;
  const { code, status = 0, cause } = error;
  if (isRepetition) return code === 'invalid_request' || code === 'payload_too_large';
  if (code === 'unexpected_response' || code === 'request_in_progress') return false;
  // A copy of the draft in another tab was edited, and went out.
  if (code === 'idempotency_key_reused') return false;
  return (status >= 400 && status < 500) || (code === 'unavailable' && cause === undefined);
}

/** In the storage of the tab. Without one, a draft lives as long as the page. @param owner whose draft it is. */
function draftStorage(owner: string) {
  const name = `carillon draft ${owner}`;
  const attempt = <Result>(use: (storage: Storage) => Result): Result | undefined => {
    try {
      return use(sessionStorage);
    } catch {
      return undefined;
    }
  };
  return {
    read: () => attempt((storage) => readDraft(JSON.parse(storage.getItem(name)!))),
    write: (draft: Draft) => attempt((storage) => storage.setItem(name, JSON.stringify(draft))),
    erase: () => attempt((storage) => storage.removeItem(name)),
  };
}

/** What another version has stored may lack fields, and have others. */
function readDraft({ form, ...draft }: Draft): Draft {
  const known = Object.entries(emptySendForm).map(([name, empty]) => {
    const stored = form[name as keyof SendForm];
    return [name, typeof stored === typeof empty ? stored : empty];
  });
  return { ...draft, form: Object.fromEntries(known) as SendForm };
}

interface DraftOptions {
  /** Whose draft it is: project and member. Another key never sees it. */
  readonly owner: string;
  readonly client: ProjectClient;
  readonly isLocal: boolean;
  readonly queries: QueryClient;
  readonly onSent: (notificationId: string) => void;
}

/** The draft of who is signed in, and what can be done with it. */
export function useDraft({ owner, client, isLocal, queries, onSent }: DraftOptions) {
  const [storage] = useState(() => draftStorage(owner));
  const [first] = useState(() => firstForm(isLocal));
  const [draft, setDraft] = useState(() => storage.read() ?? newDraft(first));
  // A request outlives the render that began it.
  const current = useRef<Draft | undefined>(draft);
  const keep = (next: Draft) => {
    if (current.current === undefined) return;
    current.current = next;
    storage.write(next);
    setDraft(next);
  };
  const send = useMutation(
    {
      mutationFn: ({ draft: { id, form } }: Attempt) => {
        const { notification } = readSendForm(form);
        return afterPauses('request_in_progress', () =>
          client.send(notification, { idempotencyKey: id, respondAsync: true }),
        );
      },
      onSuccess: ({ id: notificationId }, { draft: { id } }) => {
        if (current.current?.id !== id) return;
        keep(newDraft(emptySendForm));
        onSent(notificationId);
      },
      onError: (error, { draft: { id, form, earlier }, isRepetition }) => {
        if (!saysNothingSent(error, isRepetition) || current.current?.id !== id) return;
        const { code } = error as CarillonError;
        if (code === 'unavailable') keep({ id, form, earlier, isKept: true });
        else keep(newDraft(form, earlier));
      },
    },
    queries,
  );
  return {
    draft,
    /** Whether nothing would be lost with it. */
    isUntouched:
      draft.attemptedAt === undefined &&
      [first, emptySendForm].some((form) => JSON.stringify(form) === JSON.stringify(draft.form)),
    change: (changes: Partial<SendForm>) => {
      const { attemptedAt, isKept, ...last } = current.current ?? draft;
      if (attemptedAt !== undefined) return;
      const form = { ...last.form, ...changes };
      // Another body needs another key.
      keep(isKept ? newDraft(form, last.earlier) : { ...last, form });
    },
    /** Another one takes its place. */
    replace: (form: SendForm, earlier?: string) => {
      send.reset();
      keep(newDraft(form, earlier));
    },
    /** Sends it, or repeats the request that was sent. */
    send: () => {
      const { attemptedAt, ...draft } = current.current!;
      // Before the request: whatever ends this page, the draft is locked.
      keep({ ...draft, attemptedAt: attemptedAt ?? Date.now() });
      send.mutate({ draft, isRepetition: attemptedAt !== undefined });
    },
    reset: send.reset,
    isSending: send.isPending && send.variables.draft.id === draft.id,
    error: send.error,
    /** For whoever signs out: nothing of it stays, and nothing comes back. */
    erase: () => {
      current.current = undefined;
      storage.erase();
    },
  };
}

interface Attempt {
  readonly draft: Draft;
  /** Whether an earlier request may have gone out. */
  readonly isRepetition: boolean;
}
