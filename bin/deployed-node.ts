/** Installs the Node version of the deployed functions, and prints the directory of its binary. */
import { dirname } from 'node:path';
import { nodeVersion } from '../contract/runtime.ts';
import { installNode } from './node-binary.ts';

console.log(dirname(await installNode(nodeVersion)));
