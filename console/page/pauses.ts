import { CarillonError } from '../../sdk/common/error.ts';

/** Most pauses of one request. */
const mostPauses = 4;

/** Repeats a request for as long as the service refuses it with a code that passes, after the pauses that it asks for. */
export async function afterPauses<Result>(
  code: 'request_in_progress' | 'rate_limited',
  request: () => Promise<Result>,
): Promise<Result> {
  for (let pauses = 0; ; pauses++) {
    try {
      return await request();
    } catch (error) {
      const isPassing = error instanceof CarillonError && error.code === code;
      if (!isPassing || pauses === mostPauses) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 5)));
    }
  }
}
