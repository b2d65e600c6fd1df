import { readEnvironment } from '../../contract/environment.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { countChecker } from '../results/count-checker.ts';
import { documentClient } from '../store/dynamo.ts';
import { describedProjectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { projectUsage } from '../store/usage.ts';
import { getProject } from './get-project.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'USAGE_TABLE',
    'RATE_LIMITS_TABLE',
    'SUBSCRIBER_CAP',
    'MONTHLY_SEND_CAP',
    'RATE_LIMIT_PER_MINUTE',
    'ORIGIN_SECRET_HASHES',
    'REQUIRE_ORIGIN_SECRET',
  ],
  process.env,
);

const clock = () => new Date();
const logger = serviceLogger('getProject');
const dynamo = documentClient();
const parts = {
  usage: projectUsage(dynamo, environment.USAGE_TABLE),
  subscriberCap: environment.SUBSCRIBER_CAP,
  monthlySendCap: environment.MONTHLY_SEND_CAP,
  checker: countChecker(logger),
  clock,
};

export const handler = ownerChain({
  action: 'getProject',
  logger,
  clock,
  projects: describedProjectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
}).handler(async ({ project }) => respond(200, await getProject(parts, project)));
