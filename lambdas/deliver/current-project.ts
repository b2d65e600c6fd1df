import type { SigningProject } from '../../contract/project.ts';
import type { ProjectStore } from '../store/projects.ts';

/** The project of a delivery, as it was read last. */
export class CurrentProject {
  /** Whether it was deleted meanwhile. Another one may have its id. */
  isGone = false;
  /** Start of the last read that found it: epoch ms. */
  knownAt: number;
  readonly #projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
  readonly #clock: () => Date;
  #project: SigningProject;

  /** @param knownAt epoch ms at which it existed. */
  constructor(
    projects: Pick<ProjectStore<SigningProject>, 'refresh'>,
    clock: () => Date,
    project: SigningProject,
    knownAt: number,
  ) {
    this.#projects = projects;
    this.#clock = clock;
    this.#project = project;
    this.knownAt = knownAt;
  }

  get vapid(): SigningProject['vapid'] {
    return this.#project.vapid;
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const startedAt = this.#clock().getTime();
    const { projectId, ref } = this.#project;
    const found = await this.#projects.refresh(projectId, signal);
    if (found?.ref !== ref) {
      this.isGone = true;
      return;
    }
    this.#project = found;
    this.knownAt = startedAt;
  }
}
