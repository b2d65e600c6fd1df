import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A CloudFormation template, as far as the local stack reads it. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** What a synthesis leaves behind: a directory with a template and the functions' bundles. */
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
 * @throws {Error} where the directory holds none, or one of several stacks.
 */
export function readAssembly(directory: string): Assembly {
  const { artifacts } = readJson<Manifest>(join(directory, 'manifest.json'));
  const stacks = Object.entries(artifacts).filter(
    ([, { type }]) => type === 'aws:cloudformation:stack',
  );
  const [stack] = stacks;
  const templateFile = stack?.[1].properties?.templateFile;
  if (stacks.length !== 1 || stack === undefined || templateFile === undefined) {
    throw new Error(`The assembly has ${stacks.length} stacks; the local stack runs one.`);
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
    throw new Error(`The assembly is broken: ${(error as Error).message}`);
  }
}

/** Resources of the given types with their logical ids, in the template's order. */
export function resourcesOf(
  template: Template,
  ...types: readonly string[]
): readonly (readonly [logicalId: string, resource: Resource])[] {
  return Object.entries(template.Resources).filter(([, { Type }]) => types.includes(Type));
}
