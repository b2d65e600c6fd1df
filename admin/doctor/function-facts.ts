import {
  type FunctionConfiguration,
  GetAccountSettingsCommand,
  GetFunctionConfigurationCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import type { DeploymentFacts, FunctionFacts } from './facts.ts';

/** The facts that the Lambda API has, which the local stack serves as well. */
export function functionFacts(
  lambda: LambdaClient,
  functionNames: () => Promise<readonly string[]>,
): Pick<DeploymentFacts, 'concurrency' | 'functions'> {
  return {
    async concurrency() {
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
      return AccountLimit!.ConcurrentExecutions!;
    },

    async functions() {
      const names = await functionNames();
      const found = names.map((FunctionName) =>
        lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
      );
      return (await Promise.all(found)).map(factsOf);
    },
  };
}

function factsOf(configuration: FunctionConfiguration): FunctionFacts {
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
    failure,
    environment: configuration.Environment?.Variables ?? {},
  };
}
