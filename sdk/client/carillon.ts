export { CarillonError, type CarillonErrorCode } from '../common/error.ts';
export type { HistoryEntry } from '../common/history.ts';
export type {
  PageClick as ClickedEvent,
  ReceivedMessage,
  ShownEvent,
} from '../common/page-events.ts';
export type { CarillonClient, CarillonEvents, PushState } from './client-types.ts';
export type { UnsupportedReason } from './environment.ts';
export { init } from './init.ts';
export type { CarillonOptions, CloseOptions, SubscribeOptions, UserOptions } from './options.ts';

/** Replaced by the bundler. */
declare const VERSION: string;

/** The SDK's version. */
export const version = VERSION;
