/** The project that the page works with. */
export interface Settings {
  readonly baseUrl: string;
  readonly projectId: string;
  readonly applicationServerKey: string;
  /** Empty where it is not known. */
  readonly secretApiKey: string;
}

const names = ['baseUrl', 'projectId', 'applicationServerKey', 'secretApiKey'] as const;
const kept = 'carillon-playground';

/**
 * What was entered in this tab, else what the address says, else the demo project of the local
 * stack that serves this page. The secret key lives as long as the tab, and is in no address.
 */
export async function readSettings(): Promise<Settings> {
  const entered = sessionStorage.getItem(kept);
  if (entered !== null) return JSON.parse(entered);
  const address = new URLSearchParams(location.search);
  if (address.has('projectId')) {
    const [baseUrl, projectId, applicationServerKey] = names.map((name) => address.get(name) ?? '');
    return {
      baseUrl: baseUrl || location.origin,
      projectId: projectId ?? '',
      applicationServerKey: applicationServerKey ?? '',
      secretApiKey: '',
    };
  }
  const demo = await fetch('/local/project').catch(() => undefined);
  const found: Partial<Settings> = demo?.ok ? await demo.json() : {};
  return {
    baseUrl: location.origin,
    projectId: '',
    applicationServerKey: '',
    secretApiKey: '',
    ...found,
  };
}

export function keepSettings(settings: Settings): void {
  sessionStorage.setItem(kept, JSON.stringify(settings));
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
