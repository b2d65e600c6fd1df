import { type DynamoDBDocumentClient, GetCommand, TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import type { Project, SigningProject } from '../contract/project.ts';
import type { ProjectItem, VapidKeyItem } from './items.ts';

/** How long a warm function goes on with what it read, ms: a rotated key ends this much later. */
const known = 30_000;
/** The same for a project that was not there, so that a new one is served soon. */
const unknown = 5_000;
/** Projects one function remembers; past it the one read first is forgotten. */
const capacity = 1000;

export interface ProjectStore<Found extends Project = Project> {
  /** Reads a project, from memory where it was read in the last 30 s. */
  find(projectId: string): Promise<Found | undefined>;
}

export function projectStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
): ProjectStore {
  return remembering(clock, async (projectId) => {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: table, Key: { projectId }, ConsistentRead: true }),
    );
    return Item && fromItem(Item as ProjectItem);
  });
}

/** Finds a project together with its VAPID pair, whose private half lies in a table of its own. */
export function signingProjectStore(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly projects: string; readonly vapidKeys: string },
  clock: () => Date,
): ProjectStore<SigningProject> {
  return remembering(clock, async (projectId) => {
    // In a transaction the halves are of one pair, even where a project is deleted and made anew.
    const { Responses } = await dynamo.send(
      new TransactGetCommand({
        TransactItems: [
          { Get: { TableName: tables.projects, Key: { projectId } } },
          { Get: { TableName: tables.vapidKeys, Key: { projectId } } },
        ],
      }),
    );
    const [project, key] = Responses!.map(({ Item }) => Item) as [ProjectItem?, VapidKeyItem?];
    if (project === undefined) return undefined;
    const vapid = { publicKey: project.vapidPublicKey, privateKey: key!.privateKey };
    return { ...fromItem(project), vapid };
  });
}

function remembering<Found extends Project>(
  clock: () => Date,
  read: (projectId: string) => Promise<Found | undefined>,
): ProjectStore<Found> {
  const cache = new Map<string, { project: Found | undefined; until: number }>();
  return {
    async find(projectId) {
      const now = clock().getTime();
      const cached = cache.get(projectId);
      if (cached !== undefined && now < cached.until) return cached.project;

      const project = await read(projectId);
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
    plan: item.plan,
  };
}
