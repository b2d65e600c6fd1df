import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { checkRestoredTables } from '../../admin/commands/restore.ts';
import { projectTables } from '../../admin/project-tables.ts';
import { clientWith } from '../fixtures/client-with.ts';
import { useDatabase } from '../fixtures/database.ts';

const database = useDatabase();

// The local engines restore no tables.
test('a table that AWS is still restoring is refused, with where to find how to wait', async () => {
  const own = projectTables(database.tables);
  const dynamo = clientWith(async (command: DescribeTableCommand) => {
    const response = await database.dynamo.send(command);
    const isUsage = command.input.TableName === own.usage;
    if (!(command instanceof DescribeTableCommand) || !isUsage) return response;
    return { Table: { ...response.Table, TableStatus: 'CREATING' } };
  });
  await expect(checkRestoredTables(dynamo, own, own)).rejects.toThrow(
    `AWS is still restoring the table "${own.usage}". Wait for all five: docs/backup.md has the command.`,
  );
  await expect(checkRestoredTables(database.dynamo, own, own)).resolves.toBeUndefined();
});
