import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Issue } from '../../../contract/errors.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { shareSizes } from '../../../contract/share-sizes.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { useAction } from '../calls/use-action.ts';
import { useLoad } from '../calls/use-load.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import type { Audience } from '../delivery/delivery-text.ts';
import { countOf } from '../format.ts';
import { useSession } from '../session.ts';
import { FormContext } from './form-context.ts';
import { SendAside } from './send-aside.tsx';
import { readSendForm } from './send-form.ts';
import { SendFormFields } from './send-form-fields.tsx';
import { SendOutcome, type Sent } from './send-outcome.tsx';

/** Writes and sends a notification. */
export function SendView() {
  const { client, settings, draft, setDraft } = useSession();
  const project = useLoad(() => client.project(), [client]);
  const subscribers = project.value?.subscribers;
  const { notification, issues } = readSendForm(draft);
  const [attempts, setAttempts] = useState(0);
  const [refused, setRefused] = useState<readonly Issue[]>([]);
  const [isAsking, ask] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const form = useRef<HTMLFormElement>(null);
  const keyOf = useIdempotencyKeys();
  const respondAsync =
    draft.respondAsync ?? (draft.to === 'everyone' && (subscribers ?? 0) > shareSizes.recipients);

  const send = useAction(async () => {
    const idempotencyKey = keyOf.request(notification);
    try {
      const result = await client.send(notification, { idempotencyKey, respondAsync });
      keyOf.forget();
      setSent({ ...result, audience: audienceOf(notification) });
    } catch (error) {
      if (error instanceof CarillonError && error.issues) setRefused(error.issues);
      throw error;
    }
  });

  // The fields have their errors by then, and their groups are open.
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [attempts, refused]);

  function submit(event: Event) {
    event.preventDefault();
    setSent(undefined);
    setRefused([]);
    setAttempts(attempts + 1);
    if (issues.length > 0) return;
    if (draft.to === 'everyone') ask(true);
    else send.run();
  }

  const hasConditions = draft.channels.trim() !== '' || draft.seenWithinDays.trim() !== '';
  const everyone = hasConditions ? 'every subscriber that matches' : 'every subscriber';
  const audience =
    draft.to !== 'everyone'
      ? countOf(usersOf(notification) ?? 0, 'user id')
      : subscribers === undefined || hasConditions
        ? everyone
        : countOf(subscribers, 'subscriber');
  return (
    <View title="Send" projectId={client.projectId}>
      <div class="send">
        <div class="send-main">
          <form class="card" ref={form} noValidate onSubmit={submit} aria-label="Notification">
            <FormContext.Provider
              value={{
                form: draft,
                change: (changes) => setDraft((current) => ({ ...current, ...changes })),
                issues: attempts > 0 ? [...issues, ...refused] : [],
              }}
            >
              <SendFormFields subscribers={subscribers} respondAsync={respondAsync} />
            </FormContext.Provider>
            <div class="buttons">
              <button type="submit" class="primary" id="send" aria-disabled={send.isRunning}>
                {send.isRunning ? 'Sending…' : `Send to ${audience}`}
              </button>
            </div>
            <p role="status" class="hint">
              {send.isRunning &&
                'Sending. The response comes when every push has been attempted, within 30 s.'}
              {attempts > 0 &&
                issues.length > 0 &&
                `${countOf(issues.length, 'field')} to correct.`}
            </p>
            <Problem error={send.error} />
          </form>
          {sent !== undefined && <SendOutcome key={sent.id} sent={sent} />}
        </div>
        <SendAside notification={notification} respondAsync={respondAsync} />
      </div>
      <ConfirmDialog
        isOpen={isAsking}
        question={`Send to ${audience}?`}
        explanation={`“${draft.title}” goes to ${everyone} of ${client.projectId} at ${settings.baseUrl}. It cannot be taken back.`}
        confirmLabel="Send"
        onConfirm={() => send.run()}
        onClose={() => ask(false)}
      />
    </View>
  );
}

function audienceOf(notification: SendRequest): Audience {
  const { channels, seenWithinDays } = notification;
  const users = usersOf(notification);
  const isEveryone = [users, channels, seenWithinDays].every((part) => part === undefined);
  return isEveryone ? 'everyone' : { users, channels, seenWithinDays };
}

function usersOf({ userIds, recipients }: SendRequest): number | undefined {
  return (userIds ?? recipients)?.length;
}

/** One key for a notification until it is sent: a repeated attempt never sends it twice. */
function useIdempotencyKeys() {
  const last = useRef<{ readonly body: string; readonly key: string } | undefined>(undefined);
  return {
    request(notification: SendRequest): string {
      const body = JSON.stringify(notification);
      if (last.current?.body !== body) last.current = { body, key: crypto.randomUUID() };
      return last.current.key;
    },
    forget() {
      last.current = undefined;
    },
  };
}
