import { useRef } from 'preact/hooks';
import { startSdk } from '../calls/this-browser.ts';
import { useAction } from '../calls/use-action.ts';
import { useLoad } from '../calls/use-load.ts';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { BrowserSubscription } from './browser-subscription.tsx';

/** Not bundled: the page tests the file that sites use. */
const checkPath = '/carillon-check.mjs';

/** Subscribes this browser with the SDK. Only `npm start` serves the SDK's files. */
export function BrowserView() {
  const { client } = useSession();
  const sdk = useLoad(() => startSdk(client), [client]);
  const results = useRef<HTMLDivElement>(null);
  const check = useAction(async () => {
    const file: typeof import('../../../sdk/check/carillon-check.ts') = await import(checkPath);
    await file.showCheck(results.current!, sdk.value!.options);
  });
  return (
    <View
      title="This browser"
      projectId={client.projectId}
      actions={
        <a class="button" href={fragmentOf({ view: 'send', projectId: client.projectId })}>
          Send a notification
        </a>
      }
    >
      <section class="card narrow" aria-label="Subscription">
        <Problem error={sdk.error} />
        {sdk.value !== undefined && (
          <BrowserSubscription
            push={sdk.value.push}
            onAttempt={() => {
              if (results.current!.hasChildNodes()) check.run();
            }}
          />
        )}
      </section>
      <section class="card narrow" aria-labelledby="check-title">
        <h2 id="check-title">No notifications?</h2>
        <div class="buttons">
          <button type="button" onClick={() => check.run()} disabled={sdk.value === undefined}>
            Check this browser
          </button>
        </div>
        <Problem error={check.error} />
        <div ref={results} />
      </section>
    </View>
  );
}
