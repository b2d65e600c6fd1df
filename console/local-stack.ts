/** What `npm start` has for the page besides the API. Only there, and only for browsers that opened its address. */
export const localPaths = {
  /** GET: the demo project and its key, a `LocalSession`. */
  session: '/local/session',
  /** POST: subscribes simulated browsers to a project. Its query: `projectId`, `applicationServerKey`, `count`. */
  simulatedBrowsers: '/local/simulated-browsers',
} as const;

export interface LocalSession {
  readonly projectId: string;
  readonly secretKey: string;
}
