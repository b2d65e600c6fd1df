import { type QueryClient, useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../contract/wire/limits.ts';
import type { NotificationList, SendRequest } from '../../../contract/wire/notification.ts';
import { audienceText } from '../../../contract/wording/delivery-verdict.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import type { ProjectClient } from '../../../sdk/server/project-client.ts';
import { capitalized, dayMs, timeText } from '../format.ts';
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
  /** What was sent then: a repetition sends exactly this, also with another version of this page. */
  readonly request?: SendRequest;
  /** Whether the service has responded that nothing was sent, and may keep the body under this key. */
  readonly isKept?: true;
  /** Who has, or may have, an earlier one like it. A sentence. */
  readonly earlier?: string;
  /** What it was first a copy of. */
  readonly copyOf?: SendForm;
}

function newDraft(form: SendForm, { earlier, copyOf }: Partial<Draft> = {}): Draft {
  const id = crypto.randomUUID();
  return { id, form, ...(earlier && { earlier }), ...(copyOf && { copyOf }) };
}

/**
 * Who has an earlier one like it: as it is known of the draft, until title and text of a copy have become others; or
 * because somebody has sent the same title in the last day.
 */
export function earlierText(
  { earlier, copyOf, form }: Draft,
  list?: NotificationList,
): string | undefined {
  const isOther = copyOf && copyOf.title !== form.title && copyOf.body !== form.body;
  if (earlier && !isOther) return earlier;
  const title = form.title.trim();
  const twin = list?.notifications.find((one) => !one.test && one.title === title);
  if (twin === undefined || Date.now() - Date.parse(twin.sentAt) > dayMs) return undefined;
  return `“${title}” went out on ${timeText(twin.sentAt)}, to ${audienceText(twin)}`;
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
    : `${mayHave(draft)}. Without the draft, nobody can find out.`;
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
  // The key belongs to a copy of the draft, with another text: this one was never accepted.
  if (code === 'idempotency_key_reused') return true;
  if (isRepetition) return code === 'invalid_request' || code === 'payload_too_large';
  if (code === 'unexpected_response' || code === 'request_in_progress') return false;
  return (status >= 400 && status < 500) || (code === 'unavailable' && cause === undefined);
}

/** In the storage of the tab. Without one, a draft lives as long as the page. @param owner whose draft it is. */
function draftStorage(owner: string) {
  const name = `carillon draft ${owner}`;
  return {
    read: () => stored(() => readDraft(JSON.parse(sessionStorage.getItem(name)!))),
    write: (draft: Draft) => stored(() => sessionStorage.setItem(name, JSON.stringify(draft))),
    erase: () => stored(() => sessionStorage.removeItem(name)),
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

const doubtPrefix = 'carillon doubt ';

/**
 * Drafts whose outcome nobody knows outlive their tab: they are in the storage of the browser until it is found out,
 * for a day at most. They are encrypted with the key that sends them: nobody else at this computer can read what it
 * was, to whom, or from whom. Without a storage they live as long as their tab.
 */
function doubtStorage(key: string) {
  const bytes = new TextEncoder().encode(doubtPrefix + key);
  const cipher = crypto.subtle
    .digest('SHA-256', bytes)
    .then((hash) => crypto.subtle.importKey('raw', hash, 'AES-GCM', false, ['encrypt', 'decrypt']));
  async function decrypted(name: string): Promise<Draft | undefined> {
    const [endsAt, iv, data] = JSON.parse(localStorage.getItem(name)!);
    if (endsAt < Date.now()) return localStorage.removeItem(name) as undefined;
    const use = { name: 'AES-GCM', iv: new Uint8Array(iv) };
    const text = await crypto.subtle.decrypt(use, await cipher, new Uint8Array(data));
    return JSON.parse(new TextDecoder().decode(text));
  }
  return {
    async write(draft: Draft): Promise<void> {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const text = new TextEncoder().encode(JSON.stringify(draft));
      const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await cipher, text);
      const endsAt = draft.attemptedAt! + limits.idempotencyHours * 60 * 60_000;
      const entry = JSON.stringify([endsAt, [...iv], [...new Uint8Array(data)]]);
      stored(() => localStorage.setItem(doubtPrefix + draft.id, entry));
    },
    erase: (id: string) => stored(() => localStorage.removeItem(doubtPrefix + id)),
    /** Those that this key has sent. What it cannot read is of another key. */
    async read(): Promise<readonly Draft[]> {
      const names = stored(() => Object.keys(localStorage)) ?? [];
      const ours = names.filter((name) => name.startsWith(doubtPrefix));
      const found = await Promise.all(ours.map((name) => decrypted(name).catch(() => undefined)));
      return found.filter((draft) => draft !== undefined);
    },
  };
}

/** What a storage gives. Undefined where the browser allows none, or it is full. */
function stored<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

interface DraftOptions {
  /** Whose draft it is: project and member. Another key never sees it. */
  readonly owner: string;
  readonly key: string;
  readonly client: ProjectClient;
  readonly isLocal: boolean;
  readonly queries: QueryClient;
  readonly onSent: (notificationId: string) => void;
}

/** The draft of who is signed in, and what can be done with it. */
export function useDraft({ owner, key, client, isLocal, queries, onSent }: DraftOptions) {
  const [storage] = useState(() => draftStorage(owner));
  const [doubts] = useState(() => doubtStorage(key));
  const [first] = useState(() => firstForm(isLocal));
  const [draft, setDraft] = useState(() => storage.read() ?? newDraft(first));
  // A request outlives the render that began it.
  const current = useRef<Draft | undefined>(draft);
  const keep = (next: Draft) => {
    if (current.current === undefined) return;
    if (next.attemptedAt === undefined) doubts.erase(current.current.id);
    current.current = next;
    storage.write(next);
    setDraft(next);
  };
  /** Whether nothing would be lost with it. */
  const isUntouched = ({ attemptedAt, form }: Draft) =>
    attemptedAt === undefined &&
    [first, emptySendForm].some((one) => JSON.stringify(one) === JSON.stringify(form));
  useEffect(() => {
    void doubts.read().then(([doubt]) => {
      if (doubt && current.current && isUntouched(current.current)) keep(doubt);
    });
  }, []);
  const send = useMutation(
    {
      // A repetition: an earlier request may have gone out.
      mutationFn: async ({ draft }: { draft: Draft; isRepetition: boolean }) => {
        await doubts.write(draft);
        const options = { idempotencyKey: draft.id, respondAsync: true };
        return client.send(draft.request!, options);
      },
      onSuccess: ({ id: notificationId }, { draft: { id } }) => {
        if (current.current?.id !== id) return;
        keep(newDraft(emptySendForm));
        onSent(notificationId);
      },
      onError: (error, { draft: { attemptedAt, request, ...draft }, isRepetition }) => {
        if (!saysNothingSent(error, isRepetition) || current.current?.id !== draft.id) return;
        const { code } = error as CarillonError;
        const earlier = 'A copy of this draft has gone out from another tab';
        const from = code === 'idempotency_key_reused' ? { earlier } : draft;
        keep(code === 'unavailable' ? { ...draft, isKept: true } : newDraft(draft.form, from));
      },
    },
    queries,
  );
  return {
    draft,
    isUntouched: isUntouched(draft),
    /** Another draft whose outcome nobody knows, of this or of a closed tab. */
    otherDoubt: async () => (await doubts.read()).find(({ id }) => id !== current.current?.id),
    change: (changes: Partial<SendForm>) => {
      const { attemptedAt, isKept, ...last } = current.current ?? draft;
      if (attemptedAt !== undefined) return;
      const form = { ...last.form, ...changes };
      // Another body needs another key.
      keep(isKept ? newDraft(form, last) : { ...last, form });
    },
    /** Another one takes its place. */
    replace: (form: SendForm, from?: Partial<Draft>) => {
      send.reset();
      keep(newDraft(form, from));
    },
    /** Sends it, or repeats the request that was sent. */
    send: () => {
      const { attemptedAt, ...draft } = current.current!;
      const { notification: request } = readSendForm(draft.form);
      const attempted = { request, ...draft, attemptedAt: attemptedAt ?? Date.now() };
      // Before the request: whatever ends this page, the draft is locked.
      keep(attempted);
      send.mutate({ draft: attempted, isRepetition: attemptedAt !== undefined });
    },
    reset: send.reset,
    isSending: send.isPending && send.variables.draft.id === draft.id,
    error: send.error,
    /** For whoever signs out: nothing of it stays, and nothing comes back. */
    erase: () => {
      doubts.erase(draft.id);
      current.current = undefined;
      storage.erase();
    },
  };
}
