import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { localConfig } from '../admin/local-config.ts';
import { hashKey, type ProjectRegistry, projectRegistry } from '../admin/project-registry.ts';
import { projectTables } from '../contract/infrastructure/tables.ts';
import { documentClient } from '../lambdas/store/dynamo.ts';
import type { ProjectItem } from '../lambdas/store/items.ts';
import type { TableNames } from './stack.ts';
import type { LocalState } from './state-file.ts';

export type DemoProject = LocalState['project'];

const demoProjectId = 'demo';

/**
 * Returns the project `demo`, and creates it if it does not exist. The tables contain only the hash
 * of its secret key; the key itself is stored next to the data, in `DATA_DIR/demo-secret-key`. If that
 * file is missing or does not match, the project gets a new key.
 */
export async function demoProject(
  dynamodb: { readonly endpoint: string; readonly tables: TableNames },
  dataDir: string | undefined,
): Promise<DemoProject> {
  const dynamo = documentClient(localConfig(dynamodb.endpoint));
  try {
    const registry = projectRegistry(dynamo, projectTables(dynamodb.tables), () => new Date());
    const Key = { projectId: demoProjectId };
    const TableName = dynamodb.tables.PROJECTS_TABLE;
    const { Item } = await dynamo.send(new GetCommand({ TableName, Key }));
    const existing = Item as ProjectItem | undefined;
    const storedKey = dataDir && (await readKey(dataDir));
    const isKnown = storedKey && hashKey(storedKey) === existing?.secretKeyHash;
    const { project, secretKey } = isKnown
      ? { project: existing, secretKey: storedKey }
      : await createOrRotateKey(registry, existing !== undefined);
    if (dataDir !== undefined) await storeKey(dataDir, secretKey);
    const identityKey = await registry.identityKey(demoProjectId);
    const applicationServerKey = project.vapidPublicKey;
    return { projectId: demoProjectId, applicationServerKey, secretKey, identityKey };
  } finally {
    dynamo.destroy();
  }
}

function createOrRotateKey(registry: ProjectRegistry, exists: boolean) {
  return exists
    ? registry.rotateKey(demoProjectId, randomBytes)
    : registry.create({
        projectId: demoProjectId,
        settings: { name: 'Demo' },
        random: randomBytes,
      });
}

const keyFile = (dataDir: string) => join(dataDir, 'demo-secret-key');

async function readKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(keyFile(dataDir), 'utf8').catch(() => undefined);
  return text?.trim();
}

async function storeKey(dataDir: string, secretKey: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(keyFile(dataDir), `${secretKey}\n`, { mode: 0o600 });
}
