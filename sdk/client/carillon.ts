export { CarillonError, type CarillonErrorCode } from '../common/error.ts';
export { type CarillonClient, init } from './init.ts';
export type { CarillonOptions } from './options.ts';

/** Replaced by the bundler. */
declare const VERSION: string;

/** The SDK's version. */
export const version = VERSION;
