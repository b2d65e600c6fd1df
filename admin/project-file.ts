import { type FileHandle, open } from 'node:fs/promises';
import * as z from 'zod';
import { projectIdPattern } from '../contract/wire/formats.ts';
import {
  type ErasureItem,
  erasureKey,
  type SubscriptionItem,
  subscriptionKey,
} from '../lambdas/store/items.ts';
import { CommandError } from './errors.ts';
import { type ArrivingProject, haveSameKeys } from './store/arriving-project.ts';

const format = 'carillon project';
const version = 1;

const headerSchema = z.object({
  format: z.literal(format),
  version: z.literal(version),
  projectId: z.string().regex(projectIdPattern),
  exportedAt: z.iso.datetime(),
  // Of the deployment that it comes from. They apply to a project without limits of its own.
  limits: z.object({
    SUBSCRIBER_CAP: z.number(),
    MONTHLY_SEND_CAP: z.number(),
    RATE_LIMIT_PER_MINUTE: z.number(),
  }),
});

/** Whether a line is the first one of the file of a project. */
export const isProjectHeader = (line: unknown) => Object(line).format === format;

/** What the first line of a file says. */
export type FileHeader = Readonly<Omit<z.infer<typeof headerSchema>, 'format' | 'version'>>;

/**
 * The file of a project, as text: a line of JSON for each item, as the tables have it, so that it travels whole. The last
 * line tells that the file is complete.
 */
export async function* projectLines(
  { projectId, exportedAt, limits }: FileHeader,
  { project, vapidKey, identityKey, months, erasures, subscriptions }: ArrivingProject,
  onProgress: (subscriptions: number) => void = () => {},
): AsyncGenerator<string> {
  yield line({ format, version, projectId, exportedAt, limits });
  yield line({ project }) + line({ vapidKey }) + line({ identityKey });
  yield line({ months: Object.fromEntries(months) });
  let written = 0;
  for await (const items of subscriptions()) {
    yield items.map((subscription) => line({ subscription })).join('');
    written += items.length;
    onProgress(written);
  }
  // Last, so that whoever is erased meanwhile is among them.
  for await (const items of erasures()) yield items.map((erasure) => line({ erasure })).join('');
  yield line({ end: { subscriptions: written } });
}

/** A project in a file. Its subscriptions are read when they are needed. */
export interface ProjectFile extends ArrivingProject {
  readonly header: FileHeader;
  readonly count: number;
}

/**
 * Reads a whole file that {@link projectLines} has written, and checks it.
 * @throws {CommandError} if it cannot be read, or is not such a file.
 */
export async function readProjectFile(file: string): Promise<ProjectFile> {
  const invalid = (what: string) =>
    new CommandError('invalid_file', `${file} is not the export of a project: ${what}.`);
  const parts: Partial<Record<string, unknown>> = {};
  let header: FileHeader | undefined;
  let [count, number] = [0, 0];
  for await (const value of values(file)) {
    number += 1;
    if (parts.end !== undefined) throw invalid('it goes on after its end');
    if (header === undefined) {
      header = headerSchema.safeParse(value).data;
      if (header === undefined && Object.hasOwn(Object(value), 'endpoint'))
        throw invalid('its first line is a subscription. Use the command subscriptions import');
      if (header === undefined)
        throw invalid('its first line is of another kind, or of a later version');
      continue;
    }
    const [[kind = '', content] = []] = Object.entries(Object(value));
    if (kind === 'subscription' || kind === 'erasure') {
      const { project } = parts as Partial<ArrivingProject>;
      const item = content as Pick<SubscriptionItem, 'projectPart' | 'endpointHash'>;
      const keyOf = kind === 'erasure' ? erasureKey : subscriptionKey;
      const isOwn =
        project !== undefined &&
        item.endpointHash instanceof Uint8Array &&
        item.projectPart === keyOf(project.ref, item.endpointHash).projectPart;
      if (!isOwn) throw invalid(`line ${number} is no ${kind} of this project`);
      if (kind === 'subscription') count += 1;
    } else if (kinds.includes(kind)) parts[kind] = content;
    else throw invalid(`line ${number} is malformed`);
  }
  const { project, vapidKey, identityKey, months, end } = parts as Partial<ArrivingProject> & {
    readonly end?: { readonly subscriptions: number };
  };
  if (header === undefined || end?.subscriptions !== count) {
    throw invalid('its end is missing. Export the project again');
  }
  const isComplete = project && vapidKey && identityKey && months;
  if (!isComplete || !haveSameKeys(project, vapidKey))
    throw invalid('it lacks a key of the project');
  return {
    ...{ header, count, project, vapidKey, identityKey },
    months: new Map(Object.entries(months)),
    erasures: () => itemsIn(file, 'erasure'),
    subscriptions: () => itemsIn(file, 'subscription'),
  };
}

const kinds = ['project', 'vapidKey', 'identityKey', 'months', 'end'];

/** Items that are handed on at once. */
const pageLength = 1000;

interface FileItems {
  readonly erasure: ErasureItem;
  readonly subscription: SubscriptionItem;
}

async function* itemsIn<Kind extends keyof FileItems>(
  file: string,
  kind: Kind,
): AsyncGenerator<readonly FileItems[Kind][]> {
  let page: FileItems[Kind][] = [];
  for await (const value of values(file)) {
    const { [kind]: item } = Object(value) as Partial<FileItems>;
    if (item === undefined) continue;
    page.push(item);
    if (page.length < pageLength) continue;
    yield page;
    page = [];
  }
  yield page;
}

async function* values(file: string): AsyncGenerator<unknown> {
  let opened: FileHandle | undefined;
  try {
    opened = await open(file);
    for await (const text of opened.readLines()) yield read(text);
  } catch (cause) {
    const message = `Cannot read ${file}: ${(cause as Error).message}`;
    throw new CommandError('unreadable_file', message, { cause });
  } finally {
    await opened?.close();
  }
}

/** Bytes, which JSON does not have, are `{ "base64": "…" }`. */
function line(value: object): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, member) {
    const own = this[name];
    return own instanceof Uint8Array ? { base64: Buffer.from(own).toString('base64') } : member;
  });
  return `${text}\n`;
}

/** @returns undefined for a line that is not JSON. */
function read(text: string): unknown {
  try {
    return JSON.parse(text, (_, member) =>
      typeof member?.base64 === 'string'
        ? new Uint8Array(Buffer.from(member.base64, 'base64'))
        : member,
    );
  } catch {
    return undefined;
  }
}
