import { render } from 'preact';
import { type ConsoleSettings, settingsPath } from '../settings.ts';
import { Problem } from './components/problem.tsx';
import { Console } from './console.tsx';
import { fragmentOf } from './routing/place.ts';

async function start(root: HTMLElement): Promise<void> {
  let settings: ConsoleSettings;
  try {
    const response = await fetch(settingsPath, { cache: 'no-store' });
    const body = await response.json();
    if (!response.ok) throw new Error(body.message);
    settings = body;
  } catch (error) {
    render(<Problem error={error} />, root);
    return;
  }
  const open = settings.projects.find(({ secretKey }) => secretKey !== undefined);
  if (location.hash === '' && open !== undefined) {
    const { projectId } = open;
    history.replaceState(null, '', fragmentOf({ view: 'overview', projectId }));
  }
  render(<Console settings={settings} />, root);
}

void start(document.getElementById('console')!);
