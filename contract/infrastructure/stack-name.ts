/** `Carillon` for the stage `prod`, otherwise `Carillon-` and the stage. */
export function stackNameOf(stage: string): string {
  return stage === 'prod' ? 'Carillon' : `Carillon-${stage}`;
}

/**
 * The name of a service: of its stack, and of its construct if that is in the stack of another app, such as
 * `MyApp/Push`. Metrics, tags and log groups have it, so that other characters than these are escaped.
 * @param path the stack's name, and the ids of the constructs down to the service.
 */
export function serviceNameOf([stack = '', ...ids]: readonly string[]): string {
  return [stack, ...ids.map((id) => escaped(id, /[\w-]/, '.'))].join('/');
}

/** Each resource that can have tags has it, with the service's name as its value. For cost allocation, too. */
export const serviceTag = 'carillon:service';

/** What the names of a service's outputs start with: for `MyApp/Push`, it is `Push`. */
export function outputPrefixOf(ids: readonly string[]): string {
  return escaped(ids.join('/'), /[A-Za-z0-9]/, 'Z');
}

/** The ids of a service whose outputs start with this. */
export function idsOf(outputPrefix: string): string {
  return outputPrefix.replaceAll(/Z([0-9A-F]*)Z/g, (_, code) =>
    code === '' ? 'Z' : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

/** Different texts stay different: another character is its code between two marks, and a mark is two marks. */
function escaped(text: string, kept: RegExp, mark: string): string {
  return [...text]
    .map((character) => {
      if (character === mark) return mark + mark;
      const code = character.codePointAt(0)!.toString(16).toUpperCase();
      return kept.test(character) ? character : mark + code + mark;
    })
    .join('');
}
