import { chain } from '../../../lambdas/http/chain.ts';
import { respond } from '../../../lambdas/http/response.ts';

test('leaves running out of time to Lambda, which counts it as an error', async () => {
  let end: () => void = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const handler = chain().handler(async () => {
    await work;
    return respond(200, {});
  });
  const running = handler({}, { getRemainingTimeInMillis: () => 0 } as never);
  // A time-out of the chain's own would reject by now.
  await new Promise((resolve) => setTimeout(resolve, 10));
  end();
  expect((await running).statusCode).toBe(200);
});
