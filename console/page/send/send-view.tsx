import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Issue } from '../../../contract/errors.ts';
import { fieldGroups } from '../../../contract/field-kinds.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { sliceSizes } from '../../../contract/slice-sizes.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { subscribedUserId } from '../calls/this-browser.ts';
import { useAction } from '../calls/use-action.ts';
import { useLoad } from '../calls/use-load.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import type { Audience } from '../delivery/delivery-text.ts';
import { countOf, countText } from '../format.ts';
import { useSession } from '../session.ts';
import { AudienceFields } from './audience-fields.tsx';
import { CheckField } from './controls.tsx';
import { fieldAt, type GroupName, isIn, namesIn } from './fields.ts';
import { FormContext } from './form-context.ts';
import { OptionGroup } from './option-group.tsx';
import { SendAside } from './send-aside.tsx';
import { SendField } from './send-field.tsx';
import { readSendForm, type SendForm } from './send-form.ts';
import { SendOutcome, type Sent } from './send-outcome.tsx';

/** Writes and sends a notification. */
export function SendView() {
  const { client, settings, draft, setDraft } = useSession();
  const change = (changes: Partial<SendForm>) =>
    setDraft((current) => ({ ...current, ...changes }));
  const project = useLoad(() => client.project(), [client]);
  const subscribers = project.value?.subscribers;
  const { notification, issues } = readSendForm(draft);
  const [attempts, setAttempts] = useState(0);
  const [isTest, setTest] = useState(false);
  const [refused, setRefused] = useState<readonly Issue[]>([]);
  const [isAsking, ask] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const form = useRef<HTMLFormElement>(null);
  /** By the body, until it is sent: a repeated attempt never sends it twice. */
  const keys = useRef(new Map<string, string>()).current;
  const respondAsync =
    draft.respondAsync ?? (draft.to === 'everyone' && (subscribers ?? 0) > sliceSizes.recipients);

  const send = useAction(async (toThisBrowser: boolean) => {
    const request = toThisBrowser
      ? testOf(notification, await subscribedUserId(client))
      : notification;
    const body = JSON.stringify(request);
    const idempotencyKey = keys.get(body) ?? crypto.randomUUID();
    keys.set(body, idempotencyKey);
    const options = { idempotencyKey, respondAsync: respondAsync && !toThisBrowser };
    try {
      const result = await client.send(request, options);
      keys.delete(body);
      setSent({ ...result, audience: audienceOf(request) });
    } catch (error) {
      setRefused(issuesIn(error));
      throw error;
    }
  });

  // The fields have their errors by then, and their groups are open.
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [attempts, refused]);

  /** A test does not go to the audience of the form. */
  const issuesOf = (test: boolean) =>
    test ? issues.filter(({ path }) => !audienceGroups.some((group) => isIn(path, group))) : issues;
  const shownIssues = attempts > 0 ? [...issuesOf(isTest), ...refused] : [];

  function attempt(test: boolean) {
    setSent(undefined);
    setRefused([]);
    setTest(test);
    setAttempts(attempts + 1);
    if (issuesOf(test).length > 0) return;
    if (draft.to === 'everyone' && !test) ask(true);
    else send.run(test);
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
          <form
            class="card"
            ref={form}
            noValidate
            aria-label="Notification"
            onSubmit={(event) => {
              event.preventDefault();
              attempt(false);
            }}
          >
            <FormContext.Provider value={{ form: draft, change, issues: shownIssues }}>
              {namesIn('Message').map((name) => (
                <SendField key={name} name={name} />
              ))}
              <AudienceFields subscribers={subscribers} hasConditions={hasConditions} />
              {optionGroups.map((title) => (
                <OptionGroup key={title} title={title}>
                  {title === 'Delivery' && (
                    <CheckField
                      path="respondAsync"
                      label="Respond before the delivery"
                      hint={`The counts follow while it is being sent. For more than ${countText(sliceSizes.recipients)} subscribers.`}
                      checked={respondAsync}
                      onChange={(checked) => change({ respondAsync: checked })}
                    />
                  )}
                </OptionGroup>
              ))}
            </FormContext.Provider>
            <div class="buttons">
              <button type="submit" class="primary" id="send" aria-disabled={send.isRunning}>
                {send.isRunning ? 'Sending…' : `Send to ${audience}`}
              </button>
              {settings.local && (
                <button
                  type="button"
                  id="send-test"
                  aria-disabled={send.isRunning}
                  onClick={() => attempt(true)}
                >
                  Send a test to this browser
                </button>
              )}
            </div>
            <p role="status" class="hint">
              {send.isRunning &&
                'Sending. The response comes when every push has been attempted, within 30 s.'}
              {shownIssues.length > 0 && `${countOf(shownIssues.length, 'field')} to correct.`}
            </p>
            <Problem error={issuesIn(send.error).some(hasField) ? undefined : send.error} />
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
        onConfirm={() => send.run(false)}
        onClose={() => ask(false)}
      />
    </View>
  );
}

function issuesIn(error: unknown): readonly Issue[] {
  return (error instanceof CarillonError && error.issues) || [];
}

/** Whether a field of the form shows the issue. */
const hasField = ({ path }: Issue) => fieldAt(path) !== undefined;

function audienceOf(notification: SendRequest): Audience {
  const { channels, seenWithinDays } = notification;
  const users = usersOf(notification);
  const isEveryone = [users, channels, seenWithinDays].every((part) => part === undefined);
  return isEveryone ? 'everyone' : { users, channels, seenWithinDays };
}

function usersOf({ userIds, recipients }: SendRequest): number | undefined {
  return (userIds ?? recipients)?.length;
}

const audienceGroups: readonly GroupName[] = ['To', 'Only some of them'];
const optionGroups = fieldGroups.filter((group) => group !== 'Message' && group !== 'To');

/** The notification for one user only. Placeholders get the values of the first recipient. */
function testOf(notification: SendRequest, userId: string): SendRequest {
  const { userIds, recipients, channels, seenWithinDays, ...content } = notification;
  if (recipients === undefined) return { ...content, userIds: [userId] };
  return { ...content, recipients: [{ userId, values: recipients[0]?.values }] };
}
