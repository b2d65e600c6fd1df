import { useState } from 'preact/hooks';
import { nearestName } from '../../../contract/nearest-name.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import type { ConsoleSettings } from '../../settings.ts';
import { projectClient } from '../calls/project-client.ts';
import { useAction } from '../calls/use-action.ts';
import { Field } from '../components/field.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { fragmentOf } from '../routing/place.ts';
import { projectIdIssue, secretKeyIssue } from './access-issues.ts';

interface ProjectsViewProps {
  readonly settings: ConsoleSettings;
  /** The project whose key is missing, if the URL names one. */
  readonly wanted: string | undefined;
  readonly onConnect: (projectId: string, secretKey: string) => void;
}

/** Chooses a project: one that the local stack has, or any with its id and secret key. */
export function ProjectsView({ settings, wanted, onConnect }: ProjectsViewProps) {
  const { baseUrl, local, projects } = settings;
  const [projectId, setProjectId] = useState(wanted ?? '');
  const [secretKey, setSecretKey] = useState('');
  const [showsIssues, showIssues] = useState(false);
  const idIssue = projectIdIssue(projectId);
  const keyIssue = secretKeyIssue(secretKey);
  const connect = useAction(async () => {
    // Finds a wrong key before any view is opened.
    await projectClient(projectId, secretKey).project();
    onConnect(projectId, secretKey);
  });
  const isRefused = connect.error instanceof CarillonError && connect.error.code === 'unauthorized';
  const ids = projects.map((project) => project.projectId);
  const meant = isRefused && !ids.includes(projectId) ? nearestName(projectId, ids) : undefined;
  const withoutKey = projects.filter((project) => project.secretKey === undefined);

  return (
    <View title={wanted === undefined ? 'Projects' : `Open ${wanted}`} documentTitle="Projects">
      <p class="lead">
        Projects at <code>{baseUrl}</code>
      </p>
      {local && (
        <section class="card narrow" aria-labelledby="local-title">
          <h2 id="local-title">Projects of the local stack</h2>
          <ul class="projects">
            {projects.map((project) => (
              <li key={project.projectId}>
                {project.secretKey === undefined ? (
                  <button
                    type="button"
                    onClick={() => {
                      setProjectId(project.projectId);
                      document.getElementById('secret-key')!.focus();
                    }}
                  >
                    {project.projectId}
                  </button>
                ) : (
                  <a href={fragmentOf({ view: 'overview', projectId: project.projectId })}>
                    {project.projectId}
                  </a>
                )}{' '}
                {project.name !== project.projectId && <span class="note">{project.name}</span>}
              </li>
            ))}
          </ul>
          {withoutKey.length > 0 && (
            <p class="hint">
              The stack stores no secret keys: those of the others must be entered.
            </p>
          )}
        </section>
      )}
      <section class="card narrow" aria-labelledby="open-title">
        <h2 id="open-title">Open a project</h2>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            showIssues(true);
            if (idIssue !== undefined) document.getElementById('project-id')!.focus();
            else if (keyIssue !== undefined) document.getElementById('secret-key')!.focus();
            else connect.run();
          }}
        >
          <Field id="project-id" label="Project id" error={showsIssues ? idIssue : undefined}>
            {(attributes) => (
              <input
                {...attributes}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={projectId}
                onInput={(event) => setProjectId(event.currentTarget.value.trim())}
              />
            )}
          </Field>
          <Field
            id="secret-key"
            label="Secret key"
            error={showsIssues ? keyIssue : undefined}
            hint="Stays in the memory of this page: after a reload it is asked for again."
          >
            {(attributes) => (
              <input
                {...attributes}
                type="password"
                autocomplete="off"
                placeholder="carillon_sk_…"
                value={secretKey}
                onInput={(event) => setSecretKey(event.currentTarget.value.trim())}
              />
            )}
          </Field>
          <div class="buttons">
            <button type="submit" class="primary" aria-disabled={connect.isRunning}>
              {connect.isRunning ? 'Opening…' : 'Open'}
            </button>
          </div>
          <Problem error={connect.error} />
          {meant !== undefined && (
            <p class="hint">
              This stack has no project “{projectId}”. Did you mean “{meant}”?
            </p>
          )}
        </form>
      </section>
    </View>
  );
}
