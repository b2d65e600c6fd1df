/** `Carillon` for the stage `prod`, otherwise `Carillon-` and the stage. */
export function stackNameOf(stage: string): string {
  return stage === 'prod' ? 'Carillon' : `Carillon-${stage}`;
}

/**
 * The stack of a service, and what its resources' logical ids and its outputs start with. A service in the stack of
 * another app is named after its construct, such as `MyApp/Push`: the outputs start with `Push`.
 */
export function locateService(service: string): {
  readonly stack: string;
  readonly prefix: string;
} {
  const [stack = '', ...ids] = service.split('/');
  return { stack, prefix: ids.join('').replaceAll(/[^A-Za-z0-9]/g, '') };
}
