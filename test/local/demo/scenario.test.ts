import type { Progress } from '../../../local/demo/progress.ts';
import { runScenario } from '../../../local/demo/scenario.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
import { startPushService } from '../../../local/push-service/push-service.ts';
import { startDatabase } from '../../fixtures/database.ts';

describe('runScenario', () => {
  it('stops every progress that it started if the service fails', async () => {
    const database = await startDatabase();
    const pushService = await startPushService();
    const running = new Set<Progress>();
    const stack = {
      // Responds, but is not the service.
      baseUrl: pushService.origin,
      pushService,
      dynamo: database.dynamo,
      tables: projectTables(database.tables),
    };
    let started = 0;
    const startProgress = () => {
      const progress = { update() {}, stop: () => void running.delete(progress) };
      running.add(progress);
      started += 1;
      return progress;
    };
    try {
      await expect(runScenario(stack, 10, startProgress)).rejects.toThrow('subscribe returned 404');
      expect(started).toBe(1);
      // A bar that is not stopped keeps the process running.
      expect(running.size).toBe(0);
    } finally {
      await pushService.stop();
      await database.stop();
    }
  });
});
