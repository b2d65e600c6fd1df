import {
  type FunctionConfiguration,
  GetAccountSettingsCommand,
  GetFunctionConfigurationCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';

/** Executions at a time that Lambda allows the account in this region. */
export async function readConcurrency(lambda: LambdaClient): Promise<number> {
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
  return AccountLimit!.ConcurrentExecutions!;
}

/** Of a deployed or a local stack, which serves the Lambda API as well. */
export type LambdaFacts = ReturnType<typeof lambdaFacts>;

export function lambdaFacts(lambda: LambdaClient, functionNames: () => Promise<readonly string[]>) {
  return {
    concurrency: () => readConcurrency(lambda),

    async functions() {
      const names = await functionNames();
      const found = names.map((FunctionName) =>
        lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
      );
      return (await Promise.all(found)).map(factsOf);
    },

    close: () => lambda.destroy(),
  };
}

function factsOf(configuration: FunctionConfiguration) {
  const { FunctionName, State, StateReason, LastUpdateStatus, LastUpdateStatusReason } =
    configuration;
  // Lambda makes a function inactive that has not run for weeks, and active again when it is called.
  const failure =
    State === 'Failed'
      ? (StateReason ?? State)
      : LastUpdateStatus === 'Failed'
        ? (LastUpdateStatusReason ?? 'its last update failed')
        : undefined;
  return {
    name: FunctionName!,
    /** Why the function cannot run; undefined if it can. */
    failure,
    environment: configuration.Environment?.Variables ?? {},
  };
}
