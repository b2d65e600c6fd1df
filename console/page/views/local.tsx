import { Button, Group, Progress, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { addSimulatedBrowsers } from '../calls/local-stack.ts';
import { useProject } from '../calls/queries.ts';
import { startSdk } from '../calls/this-browser.ts';
import { Card } from '../components/card.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { useSession } from '../session.ts';
import { BrowserSubscription } from './browser-subscription.tsx';

/** Not bundled: the page tests the file that sites use. */
const checkPath = '/carillon-check.mjs';

/** What only `npm start` has: this browser subscribes with the SDK, and simulated ones do. */
export function LocalView() {
  const { client } = useSession();
  const sdk = useQuery({ queryKey: ['sdk'], queryFn: () => startSdk(client), staleTime: Infinity });
  const results = useRef<HTMLDivElement>(null);
  const check = useMutation({
    mutationFn: async () => {
      const file: typeof import('../../../sdk/check/carillon-check.ts') = await import(
        /* @vite-ignore */ checkPath
      );
      await file.showCheck(results.current!, sdk.data!.options);
    },
  });
  return (
    <View title="Local stack">
      <Card title="This browser">
        <Problem error={sdk.error} />
        {sdk.data !== undefined && (
          <BrowserSubscription
            push={sdk.data.push}
            onAttempt={() => {
              if (results.current!.hasChildNodes()) check.mutate();
            }}
          />
        )}
      </Card>
      <Card title="No notifications?">
        <Group>
          <Button
            variant="default"
            onClick={() => check.mutate()}
            disabled={sdk.data === undefined}
          >
            Check this browser
          </Button>
        </Group>
        <Problem error={check.error} />
        <div ref={results} />
      </Card>
      <SimulatedBrowsers />
    </View>
  );
}

const total = 500;

/** Added by one request. The progress is shown after each. */
const browsersPerRequest = 25;

/** The button that subscribes simulated browsers of the local push service. */
function SimulatedBrowsers() {
  const { projectId } = useSession();
  const { data: project } = useProject();
  const queries = useQueryClient();
  const [added, setAdded] = useState<number>();
  const add = useMutation({
    mutationFn: async () => {
      for (let done = 0; done < total; done += browsersPerRequest) {
        setAdded(done);
        await addSimulatedBrowsers(projectId, project!.applicationServerKey, browsersPerRequest);
      }
      setAdded(total);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project'] }),
  });
  return (
    <Card title="Simulated browsers">
      <Text>
        They subscribe through the API. Most of them show a notification within seconds, and some
        click it.
      </Text>
      <Group>
        <Button
          variant="default"
          loading={add.isPending}
          disabled={project === undefined}
          onClick={() => add.mutate()}
        >
          Add {total} simulated browsers
        </Button>
      </Group>
      {add.isPending && (
        <Progress
          value={(100 * (added ?? 0)) / total}
          aria-label={`${added} of ${total} subscribed`}
        />
      )}
      <Text role="status" id="added">
        {added === total && !add.isPending && `Added ${total} browsers.`}
      </Text>
      <Problem error={add.error} />
    </Card>
  );
}
