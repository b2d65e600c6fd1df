/**
 * The path of a route with its parameters filled in, percent-encoded.
 * @param path in API Gateway's notation.
 */
export function pathOf(
  { path }: { readonly path: string },
  parameters: Readonly<Record<string, string>>,
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}
