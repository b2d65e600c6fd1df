import type { ErrorCode } from '../errors.ts';
import type { Component, Described } from './described.ts';

/** Documentation of a route that `contract/routes.ts` does not have. */
export interface Operation {
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Who calls the route, for the table of routes. */
  readonly caller: string;
  readonly headers?: Described;
  readonly query?: Described;
  readonly body?: RequestBody;
  /** Errors that do not follow from the rest: see `errors-of.ts`. */
  readonly errors?: readonly ErrorCode[];
  /** By status, the usual one first. */
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** By name. Each is tested: the reference shows it as a command that can be run. */
  readonly examples: Readonly<Record<string, Example>>;
}

export interface RequestBody {
  readonly content: Component;
  readonly limitBytes: number;
  /** Default: `application/json`. */
  readonly mediaTypes?: readonly string[];
}

export interface SuccessResponse {
  readonly description: string;
  readonly content: Component;
  /** Headers besides the ones that every response has. */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
}

export interface ResponseHeader {
  readonly description: string;
  readonly schema: object;
}

/** A request and its response. */
export interface Example {
  readonly summary: string;
  readonly request: {
    readonly query?: Readonly<Record<string, string>>;
    /** Besides the secret key and the content type. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: object;
  };
  readonly status: number;
  readonly response: object;
}
