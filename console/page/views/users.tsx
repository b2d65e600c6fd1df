import { useRef, useState } from 'preact/hooks';
import { limits } from '../../../contract/limits.ts';
import { userSchema } from '../../../contract/schemas/user.ts';
import { useAction } from '../calls/use-action.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { countOf } from '../format.ts';
import { useSession } from '../session.ts';

interface Found {
  readonly userId: string;
  readonly subscriptions: number;
}

/** Counts and removes the subscriptions of one user id. */
export function UsersView() {
  const { client } = useSession();
  const [userId, setUserId] = useState('');
  const [issue, setIssue] = useState<string>();
  const [found, setFound] = useState<Found>();
  const [removed, setRemoved] = useState<string>();
  const [isAsking, ask] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const lookUp = useAction(async () => {
    setFound(undefined);
    setRemoved(undefined);
    const { error } = userSchema.safeParse({ userId });
    setIssue(error && `User id ${error.issues[0]!.message}.`);
    if (error === undefined) setFound(await client.user(userId));
    else input.current!.focus();
  });
  const remove = useAction(async ({ userId: id }: Found) => {
    const result = await client.removeUser(id);
    setFound(undefined);
    setRemoved(`Removed ${countOf(result.removed, 'subscription')} of ${id}.`);
    // The pressed button is gone.
    input.current!.focus();
  });

  return (
    <View title="Users" projectId={client.projectId}>
      <section class="card narrow" aria-label="One user">
        <p class="lead">
          A user id is the name that your site gives a visitor. A user may have several
          subscriptions: one for each browser.
        </p>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            lookUp.run();
          }}
        >
          <Field
            id="user-id"
            label="User id"
            error={issue}
            hint={`As your site passed it to the SDK. 1 to ${limits.userIdLength} characters.`}
          >
            {(attributes) => (
              <input
                {...attributes}
                ref={input}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={userId}
                onInput={(event) => setUserId(event.currentTarget.value)}
              />
            )}
          </Field>
          <div class="buttons">
            <button type="submit" class="primary" aria-disabled={lookUp.isRunning}>
              Look up
            </button>
          </div>
        </form>
        <div role="status" class="result">
          {found !== undefined && (
            <p>
              <strong>{found.userId}</strong> has {countOf(found.subscriptions, 'subscription')}.
            </p>
          )}
          {removed !== undefined && <p>{removed}</p>}
        </div>
        {found !== undefined && found.subscriptions > 0 && (
          <div class="buttons">
            <button
              type="button"
              class="danger"
              aria-disabled={remove.isRunning}
              onClick={() => ask(true)}
            >
              Remove all subscriptions of this user
            </button>
          </div>
        )}
        <Problem error={lookUp.error ?? remove.error} />
      </section>
      <ConfirmDialog
        isOpen={isAsking}
        question={`Remove ${found?.userId ?? ''}?`}
        explanation={`The browsers of this user get no more notifications (${countOf(found?.subscriptions ?? 0, 'subscription')}). It cannot be undone: the person has to subscribe again.`}
        confirmLabel="Remove"
        onConfirm={() => found !== undefined && remove.run(found)}
        onClose={() => ask(false)}
      />
    </View>
  );
}
