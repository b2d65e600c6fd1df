/** `Carillon` for the stage `prod`, otherwise `Carillon-` and the stage. */
export function stackNameOf(stage: string): string {
  return stage === 'prod' ? 'Carillon' : `Carillon-${stage}`;
}
