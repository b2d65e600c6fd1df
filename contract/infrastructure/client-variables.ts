/** The environment variables from which clients of a project read its addresses and keys. */
export const clientVariables = {
  baseUrl: 'CARILLON_BASE_URL',
  projectId: 'CARILLON_PROJECT',
  secretKey: 'CARILLON_SECRET_KEY',
  applicationServerKey: 'CARILLON_APPLICATION_SERVER_KEY',
  identityKey: 'CARILLON_IDENTITY_KEY',
} as const;
