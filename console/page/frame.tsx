import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { ConsoleSettings } from '../settings.ts';
import { fragmentOf, type Place, type ViewName } from './routing/place.ts';

interface FrameProps {
  readonly settings: ConsoleSettings;
  readonly place: Place;
  /** Whether a project is open: its views can be chosen. */
  readonly isOpen: boolean;
  readonly children: ComponentChildren;
}

const viewTitles: Readonly<Record<ViewName, string>> = {
  overview: 'Overview',
  send: 'Send',
  notifications: 'Notifications',
  users: 'Users',
  browser: 'This browser',
};

/** What surrounds every view: the project, and the links to the views. */
export function Frame({ settings, place, isOpen, children }: FrameProps) {
  const main = useRef<HTMLElement>(null);
  const views = (Object.keys(viewTitles) as ViewName[]).filter(
    (view) => view !== 'browser' || settings.local,
  );
  const current = place.view === 'notification' ? 'notifications' : place.view;
  return (
    <div class="frame">
      {/* biome-ignore lint/a11y/useValidAnchor: it moves the focus, as a link within the page does. */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The fragment has the view.
          event.preventDefault();
          main.current!.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/projects">
          <img src="/bell.svg" alt="" width="32" height="32" />
          <span>
            Carillon <small>console</small>
          </span>
        </a>
        {isOpen && place.view !== 'projects' && (
          <a class="project" href={fragmentOf({ view: 'projects' })}>
            <small>Project</small>
            <strong>{place.projectId}</strong>
            <span class="switch">Switch</span>
          </a>
        )}
        {isOpen && place.view !== 'projects' && (
          <nav aria-label="Views">
            <ul>
              {views.map((view) => (
                <li key={view}>
                  <a
                    href={fragmentOf({ view, projectId: place.projectId })}
                    aria-current={view === current ? 'page' : undefined}
                  >
                    {viewTitles[view]}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <footer>
        <p>
          Every route and field: <a href="/docs">API reference</a>,{' '}
          <a href="/openapi.json">OpenAPI description</a>
        </p>
        <p>
          Service: <code>{settings.baseUrl}</code>
        </p>
      </footer>
    </div>
  );
}
