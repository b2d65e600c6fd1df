import { useLoad } from '../calls/use-load.ts';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { useSession } from '../session.ts';
import { BrowserSubscription } from './browser-subscription.tsx';

/** Not bundled: the page tests the file that sites use. */
const sdkPath = '/carillon.mjs';

/** Subscribes this browser with the SDK. Only `npm start` serves the SDK's files. */
export function BrowserView() {
  const { client } = useSession();
  const sdk = useLoad(async () => {
    const [{ init }, { applicationServerKey }] = await Promise.all([
      import(sdkPath) as Promise<typeof import('../../../sdk/client/carillon.ts')>,
      client.project(),
    ]);
    const { projectId } = client;
    return init({ baseUrl: location.origin, projectId, applicationServerKey });
  }, [client]);
  return (
    <View title="This browser" projectId={client.projectId}>
      <section class="card narrow" aria-label="Subscription">
        <Problem error={sdk.error} />
        {sdk.value !== undefined && <BrowserSubscription push={sdk.value} />}
      </section>
    </View>
  );
}
