import { chain } from '../../../lambdas/http/chain.ts';
import { respond } from '../../../lambdas/http/response.ts';

test('the chain does not time out before Lambda does', async () => {
  let end: () => void = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const handler = chain().handler(async () => {
    await work;
    return respond(200, {});
  });
  const running = handler({}, { getRemainingTimeInMillis: () => 0 } as never);
  // middy's time-out would reject within this wait.
  await new Promise((resolve) => setTimeout(resolve, 10));
  end();
  expect((await running).statusCode).toBe(200);
});
