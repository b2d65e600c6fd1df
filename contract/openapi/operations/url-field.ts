import type { Fact } from '../described.ts';

/** The fact of an absolute http or https URL. */
export function urlField(use: string): Fact {
  return {
    description: `${use}: an absolute http or https URL.`,
    format: 'uri',
    pattern: '^[hH][tT][tT][pP][sS]?://[^\\s\\\\]+$',
  };
}
