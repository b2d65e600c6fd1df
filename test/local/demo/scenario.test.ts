import { type Progress, runScenario } from '../../../local/demo/scenario.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
import { startPushService } from '../../../local/push-service/push-service.ts';
import { startDatabase } from '../../fixtures/database.ts';

describe('runScenario', () => {
  it('ends every progress it began when the service fails', async () => {
    const database = await startDatabase();
    const pushService = await startPushService();
    const running = new Set<Progress>();
    const stage = {
      // Answers, but is not the service.
      baseUrl: pushService.origin,
      pushService,
      dynamo: database.dynamo,
      tables: projectTables(database.tables),
    };
    let begun = 0;
    const narrate = () => {
      const progress = { update() {}, stop: () => void running.delete(progress) };
      running.add(progress);
      begun += 1;
      return progress;
    };
    try {
      const playing = runScenario(stage, 10, narrate);
      await expect(playing).rejects.toThrow('subscribe was answered by 404');
      expect(begun).toBe(1);
      // A bar left running would keep the process alive for ever.
      expect(running.size).toBe(0);
    } finally {
      await pushService.stop();
      await database.stop();
    }
  });
});
