import { clientVariables } from '../../contract/client-variables.ts';
import { CarillonError } from '../common/error.ts';
import type { ProjectAccess } from './project-client.ts';

/**
 * Reads the address, project and secret key from the variables of the environment.
 * @throws {CarillonError} `invalid_options`, with the missing variable and where its value comes from.
 */
export function readAccess(env: Readonly<Record<string, string | undefined>>): ProjectAccess {
  return {
    baseUrl: read('baseUrl', 'the address of the service, such as "https://push.example.com"'),
    projectId: read('projectId', 'the project id'),
    secretKey: read('secretKey', "the project's secret key"),
  };

  function read(option: keyof ProjectAccess, meaning: string): string {
    const name = clientVariables[option];
    // A file of variables may have spaces or a newline around a value.
    const value = env[name]?.trim();
    if (value) return value;
    throw new CarillonError(
      'invalid_options',
      `The environment variable ${name} is not set. Its value is ${meaning}: it is on the API key card, ` +
        'and in .carillon/local.env while "npm start" runs.',
    );
  }
}
