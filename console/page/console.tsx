/** The whole page. */
export function Console() {
  return <h1>Carillon</h1>;
}
