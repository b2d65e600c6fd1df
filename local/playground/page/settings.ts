/** The project that the page uses. */
export interface Settings {
  readonly baseUrl: string;
  readonly projectId: string;
  readonly applicationServerKey: string;
  /** Empty if unknown. */
  readonly secretApiKey: string;
}

const names = ['baseUrl', 'projectId', 'applicationServerKey', 'secretApiKey'] as const;
const storageKey = 'carillon-playground';

/**
 * Returns the settings entered in this tab, else those of the page's URL, else the demo project of
 * the local stack. The secret key is stored for this tab only, and never in the URL.
 */
export async function readSettings(): Promise<Settings> {
  const entered = sessionStorage.getItem(storageKey);
  if (entered !== null) return JSON.parse(entered);
  const query = new URLSearchParams(location.search);
  if (query.has('projectId')) {
    const [baseUrl, projectId, applicationServerKey] = names.map((name) => query.get(name) ?? '');
    return {
      baseUrl: baseUrl || location.origin,
      projectId: projectId ?? '',
      applicationServerKey: applicationServerKey ?? '',
      secretApiKey: '',
    };
  }
  const response = await fetch('/local/project').catch(() => undefined);
  const demoProject: Partial<Settings> = response?.ok ? await response.json() : {};
  return {
    baseUrl: location.origin,
    projectId: '',
    applicationServerKey: '',
    secretApiKey: '',
    ...demoProject,
  };
}

export function storeSettings(settings: Settings): void {
  sessionStorage.setItem(storageKey, JSON.stringify(settings));
}

export function settingsOf(form: HTMLFormElement): Settings {
  const data = new FormData(form);
  const [baseUrl, projectId, applicationServerKey, secretApiKey] = names.map((name) =>
    String(data.get(name) ?? '').trim(),
  ) as [string, string, string, string];
  return { baseUrl: baseUrl.replace(/\/+$/, ''), projectId, applicationServerKey, secretApiKey };
}

export function showSettings(form: HTMLFormElement, settings: Settings): void {
  for (const name of names) {
    (form.elements.namedItem(name) as HTMLInputElement).value = settings[name];
  }
}
