export type { CarillonOptions } from '../client/options.ts';
export { type CheckResult, check, showTestNotification } from './check.ts';
export { showCheck } from './show-check.ts';
export type { CheckTexts } from './texts.ts';
