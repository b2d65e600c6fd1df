import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a CloudFormation template that the local stack reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** The output of a synthesis: a directory with the template and the functions' bundles. */
export interface Assembly {
  readonly directory: string;
  readonly stackName: string;
  readonly template: Template;
}

interface Manifest {
  readonly artifacts: Readonly<
    Record<
      string,
      {
        readonly type: string;
        readonly properties?: { readonly templateFile?: string; readonly stackName?: string };
      }
    >
  >;
}

/**
 * Reads a cloud assembly.
 * @throws {Error} if the directory has no assembly, or one with several stacks.
 */
export function readAssembly(directory: string): Assembly {
  const { artifacts } = readJson<Manifest>(join(directory, 'manifest.json'));
  const stacks = Object.entries(artifacts).filter(
    ([, { type }]) => type === 'aws:cloudformation:stack',
  );
  const [stack] = stacks;
  const templateFile = stack?.[1].properties?.templateFile;
  if (stacks.length !== 1 || stack === undefined || templateFile === undefined) {
    throw new Error(`The assembly has ${stacks.length} stacks; it must have one.`);
  }
  return {
    directory,
    stackName: stack[1].properties?.stackName ?? stack[0],
    template: readJson<Template>(join(directory, templateFile)),
  };
}

function readJson<Content>(file: string): Content {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content;
  } catch (error) {
    throw new Error(`Cannot read the assembly: ${(error as Error).message}`);
  }
}

/** The resources of the given types with their logical ids, in the template's order. */
export function resourcesOf(
  template: Template,
  ...types: readonly string[]
): readonly (readonly [logicalId: string, resource: Resource])[] {
  return Object.entries(template.Resources).filter(([, { Type }]) => types.includes(Type));
}
