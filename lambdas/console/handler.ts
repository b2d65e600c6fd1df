import { join } from 'node:path';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readEnvironment } from '../../contract/environment.ts';
import { variablesOf } from '../../contract/functions.ts';
import { chain } from '../http/chain.ts';
import { errorResponses } from '../http/error-responses.ts';
import { requestLog } from '../http/request-log.ts';
import type { Logged } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { throughProxy } from '../http/through-proxy.ts';
import { consoleResponse, readPageFiles } from './console.ts';

const environment = readEnvironment(variablesOf('console'), process.env);
const originSecret = {
  hashes: environment.ORIGIN_SECRET_HASHES,
  isRequired: environment.REQUIRE_ORIGIN_SECRET,
};

// Beside the bundle.
const files = readPageFiles(join(__dirname, 'page'));

export const handler = chain(requestLog(serviceLogger('console'), () => new Date()))
  .use(throughProxy(originSecret))
  .use(errorResponses())
  .handler(async (event: APIGatewayProxyEventV2 & Logged) => {
    // Files that everyone may have.
    event.logged = null;
    return consoleResponse(files, event.pathParameters?.file, event.headers['accept-encoding']);
  });
