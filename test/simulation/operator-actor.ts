import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { stopRunning } from '../../admin/commands/pause.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { recount } from '../../admin/recount.ts';
import { sentNotifications } from '../../admin/sent-notifications.ts';
import { pruneSubscriptions } from '../../admin/store/all-subscriptions.ts';
import { removeProject } from '../../admin/store/project-removal.ts';
import { vapidRotation } from '../../admin/vapid-rotation.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { tables } from './database/memory-database.ts';
import { databaseClient } from './database-calls.ts';
import { described } from './environments.ts';
import { projectId } from './gateway.ts';
import { Invocation, operator } from './invocation.ts';
import { vapidPairs } from './push-services.ts';
import type { OperatorCommand } from './scenario.ts';
import type { World } from './world.ts';

/** The member who has a key. */
export const memberName = 'member';

/** Longer than any command takes. */
const commandMs = 3_600_000;

/** Runs one of the operator's commands. @returns whether it succeeded. */
async function runCommand(
  world: World,
  name: string,
  body: (run: Invocation, dynamo: DynamoDBDocumentClient) => Promise<unknown>,
): Promise<boolean> {
  const run = new Invocation(world, `operator: ${name},`, operator);
  const dynamo = databaseClient(world, () => run);
  const outcome = await run.start(() => body(run, dynamo), commandMs);
  run.note(() => `ended: ${described(outcome)}`);
  return outcome.kind === 'returned';
}

/** Changes the project. The operator does not repeat a command that failed. */
export function changeProject(world: World, command: OperatorCommand): Promise<boolean> {
  const { clock } = world.scheduler;
  return runCommand(world, command.kind, async (run, dynamo) => {
    const registry = projectRegistry(dynamo, tables, clock);
    const rotation = vapidRotation(dynamo, tables, registry.get, clock, () => vapidPairs[2]!);
    switch (command.kind) {
      case 'limits': {
        const { subscriberCap, monthlySendCap } = command;
        return registry.set(projectId, { subscriberCap, monthlySendCap });
      }
      case 'rotate pair':
        return rotation.rotateVapid(projectId);
      case 'pause': {
        const { ref } = await registry.pause(projectId);
        const sent = sentNotifications(dynamo, tables, ref, clock);
        return stopRunning(sent, (ms) => run.sleep(ms));
      }
      case 'recount': {
        const { sleep } = run;
        return recount({ dynamo, tables, clock, sleep }, await registry.get(projectId));
      }
      case 'resume':
        return registry.resume(projectId);
      case 'revoke member':
        return registry.revoke(projectId, memberName);
      case 'prune': {
        const project = await registry.find(projectId);
        // A later project of the same id: it is no concern of this operator.
        if (project === undefined || project.ref === world.successorRef) return undefined;
        const subscriptions = subscriptionStore(dynamo, tables, clock, () => run.random.next());
        const deps = { dynamo, table: tables.subscriptions, subscriptions };
        return pruneSubscriptions(deps, project.ref, { updatedBefore: command.before }, false);
      }
      case 'drop previous pair':
        return rotation.dropPreviousVapid(projectId, {
          isForced: true,
          waiting: {
            sleep: (ms) => run.sleep(command.isRemembered ? 100 : ms),
            onWait: () => {},
          },
        });
    }
  });
}

/** Deletes the project. The operator repeats the command until it succeeds. @returns whether it did. */
export async function deleteProject(world: World): Promise<boolean> {
  const { scheduler } = world;
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    const isDeleted = await runCommand(world, 'delete', (run, dynamo) =>
      removeProject(dynamo, tables, projectId, scheduler.clock(), { wait: run.sleep }),
    );
    if (isDeleted) return true;
    await scheduler.sleep(10_000);
  }
  return false;
}
