/** The stack cannot be reached. The message says what to do. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'stack_unreachable';
}
