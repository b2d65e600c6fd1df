import { join } from 'node:path';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readEnvironment } from '../../contract/infrastructure/environment.ts';
import { variablesOf } from '../../contract/wire/routes.ts';
import { chain, requestLog } from '../http/chain.ts';
import { throughProxy } from '../http/request.ts';
import { errorResponses, type Logged } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
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
    return consoleResponse(files, event.pathParameters?.file);
  });
