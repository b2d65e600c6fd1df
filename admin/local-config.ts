/**
 * Configuration of an SDK client of the local stack. Region and credentials are arbitrary: the local
 * servers know only those of functions.
 */
export function localConfig(endpoint: string) {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
}
