import { useState } from 'preact/hooks';
import { addSimulatedBrowsers } from '../calls/simulated-browsers.ts';
import { useAction } from '../calls/use-action.ts';
import { Problem } from '../components/problem.tsx';
import { useSession } from '../session.ts';

const total = 500;

/** Added by one request. The progress is shown after each. */
const browsersPerRequest = 25;

interface SimulatedBrowsersProps {
  readonly applicationServerKey: string;
  /** Is called after the last browser, and after an error, which may follow some that were added. */
  readonly onAdded: () => void;
}

/** The button that subscribes simulated browsers of the local push service. */
export function SimulatedBrowsers({ applicationServerKey, onAdded }: SimulatedBrowsersProps) {
  const { client } = useSession();
  const [added, setAdded] = useState<number>();
  const add = useAction(async () => {
    try {
      for (let done = 0; done < total; done += browsersPerRequest) {
        setAdded(done);
        await addSimulatedBrowsers(client.projectId, applicationServerKey, browsersPerRequest);
      }
      setAdded(total);
    } finally {
      onAdded();
    }
  });
  return (
    <section class="card" aria-labelledby="simulated-title">
      <h2 id="simulated-title">Simulated browsers</h2>
      <p class="lead">
        They subscribe through the API, and decrypt what the local push service receives for them.
      </p>
      <div class="buttons">
        <button type="button" aria-disabled={add.isRunning} onClick={() => add.run()}>
          Add {total} simulated browsers
        </button>
      </div>
      {add.isRunning && (
        <div class="progress">
          <label for="simulated-progress">
            {added} of {total} subscribed
          </label>
          <progress id="simulated-progress" max={total} value={added} />
        </div>
      )}
      <p role="status" class="result">
        {added === total && !add.isRunning && `Added ${total} browsers.`}
      </p>
      <Problem error={add.error} />
    </section>
  );
}
