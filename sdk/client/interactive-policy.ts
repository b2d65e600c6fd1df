import { CarillonError, errorOf } from '../common/error.ts';
import { type RetryPolicy, singleAttempt } from '../common/service.ts';

/** While a person waits. There is time for two retries after quick failures: the third pause is longer. */
export const interactivePolicy: RetryPolicy = {
  ...singleAttempt,
  isRetried: true,
  errorOf: ({ origin, response, cause }) => {
    const sentence = `No readable response from ${origin}; check the connection.`;
    return response ? errorOf(response) : new CarillonError('network_error', sentence, { cause });
  },
};
