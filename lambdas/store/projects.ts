import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Project } from '../contract/project.ts';
import type { ProjectItem } from './items.ts';

/** How long a warm function goes on with what it read, ms: a rotated key ends this much later. */
const known = 30_000;
/** The same for a project that was not there, so that a new one is served soon. */
const unknown = 5_000;
/** Projects one function remembers; past it the one read first is forgotten. */
const capacity = 1000;

export interface ProjectStore {
  /** Reads a project, from memory where it was read in the last 30 s. */
  find(projectId: string): Promise<Project | undefined>;
}

export function projectStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
): ProjectStore {
  const cache = new Map<string, { project: Project | undefined; until: number }>();

  return {
    async find(projectId) {
      const now = clock().getTime();
      const cached = cache.get(projectId);
      if (cached !== undefined && now < cached.until) return cached.project;

      const { Item } = await dynamo.send(
        new GetCommand({ TableName: table, Key: { projectId }, ConsistentRead: true }),
      );
      const project = Item && fromItem(Item as ProjectItem);
      cache.delete(projectId);
      cache.set(projectId, { project, until: now + (project ? known : unknown) });
      if (cache.size > capacity) cache.delete(cache.keys().next().value!);
      return project;
    },
  };
}

function fromItem(item: ProjectItem): Project {
  const { previousKeyHash: hash, previousKeyUntil: until } = item;
  return {
    projectId: item.projectId,
    apiKeyHash: item.apiKeyHash,
    previousKey: hash && until ? { hash, until: new Date(until) } : undefined,
    vapid: { publicKey: item.vapidPublicKey, privateKey: item.vapidPrivateKey },
    plan: item.plan,
  };
}
