/** Settings that the console's server passes to its page. */
export interface ConsoleSettings {
  /** Address of the service, without a path. */
  readonly baseUrl: string;
  /** Whether `npm start` serves the page: only then this browser can subscribe, with the SDK. */
  readonly local: boolean;
  /** The projects of the local stack. Empty for a deployed one: the page asks for id and key. */
  readonly projects: readonly KnownProject[];
}

export interface KnownProject {
  readonly projectId: string;
  readonly name: string;
  /** Only of the demo project. The stack stores hashes of the others. */
  readonly secretKey?: string;
}

/** Where the server has the settings. */
export const settingsPath = '/console/settings';

/**
 * Where `npm start` subscribes simulated browsers (POST), and says how many of them received a
 * notification (GET).
 */
export const simulatedBrowsersPath = '/console/simulated-browsers';

export interface ReceivedCount {
  /** Simulated browsers that received and decrypted the notification. */
  readonly received: number;
}
