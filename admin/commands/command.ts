import type { ProjectRegistry, ProjectUsage, RegisteredProject } from '../project-registry.ts';
import type { Flags, ParsedArguments } from '../terminal/arguments.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** How the command is called; npm prints a banner before the output without `-s`. */
export const call = 'npm run -s projects --';

/** What a command acts on. */
export interface Context {
  readonly registry: ProjectRegistry;
  readonly baseUrl: string;
  readonly terminal: Terminal;
  /** Writes the outcome: the value as JSON where `--json` was given, else the text. */
  print(value: unknown, text: string): void;
}

export interface Command<Own extends Flags = Flags> {
  readonly summary: string;
  /** Whether it acts on one project, named first. */
  readonly takesProject: boolean;
  readonly flags: Own;
  /**
   * Reads its own flags before anything is connected to.
   * @param projectId empty for a command that takes none.
   * @throws {UsageError}
   */
  prepare(
    flags: ParsedArguments<Own>['flags'],
    projectId: string,
  ): (context: Context) => Promise<void>;
}

/** A failure that a command foresees; the message is its one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** A project as `--json` shows it. */
export function projectJson(
  { vapidPublicKey, ...project }: RegisteredProject,
  usage?: ProjectUsage,
) {
  const { projectId, name, plan, createdAt, previousKeyUntil } = project;
  return {
    projectId,
    name,
    applicationServerKey: vapidPublicKey,
    plan,
    createdAt,
    previousKeyUntil,
    ...(usage && { usage }),
  };
}
