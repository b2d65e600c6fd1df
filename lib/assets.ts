import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from 'constructs';
import type { FunctionName } from '../contract/routes.ts';

/** The functions' code: a folder or a ZIP file for each. */
export type Assets = Readonly<
  Record<
    FunctionName,
    {
      /** In the folder of the list. */
      readonly path: string;
      /** Of the files. It is the same for the folder and the ZIP file of them. */
      readonly hash: string;
    }
  >
>;

/** The list, as JSON, in the folder that has the assets. */
export const assetsFile = 'assets.json';

/** Entry of an app's context: the folder with the assets. The package has its own. */
export const assetsEntry = 'carillon:assets';

/** The asset of a function. @param node of a construct in the app. */
export function assetOf(node: Node, name: FunctionName): { path: string; hash: string } {
  const folder: string = node.tryGetContext(assetsEntry) ?? join(import.meta.dirname, 'assets');
  const { path, hash } = (JSON.parse(readFileSync(join(folder, assetsFile), 'utf8')) as Assets)[
    name
  ];
  return { path: join(folder, path), hash };
}
