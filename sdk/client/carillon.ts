export { CarillonError, type CarillonErrorCode } from '../common/error.ts';
export { type CarillonClient, init } from './init.ts';
export type { CarillonOptions } from './options.ts';

declare const VERSION: string;

/** Of the SDK. */
export const version = VERSION;
