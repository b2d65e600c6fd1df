import { readEnvironment } from '../../contract/environment.ts';
import { notificationListQuerySchema } from '../../contract/schemas/notification-list.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { countChecker } from '../results/count-checker.ts';
import { documentClient } from '../store/dynamo.ts';
import { notificationStore } from '../store/notifications.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { tallyStore } from '../store/tallies.ts';
import { listNotifications } from './list-notifications.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'NOTIFICATIONS_TABLE',
    'TALLIES_TABLE',
    'RATE_LIMITS_TABLE',
    'RATE_LIMIT_PER_MINUTE',
    'ORIGIN_SECRET_HASHES',
    'REQUIRE_ORIGIN_SECRET',
  ],
  process.env,
);

const clock = () => new Date();
const logger = serviceLogger('listNotifications');
const checker = countChecker(logger);
const dynamo = documentClient();
const parts = {
  notifications: notificationStore(dynamo, environment.NOTIFICATIONS_TABLE),
  tallies: tallyStore(dynamo, environment.TALLIES_TABLE),
  clock,
};

export const handler = ownerChain({
  action: 'listNotifications',
  logger,
  clock,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
})
  .use(query(notificationListQuerySchema))
  .handler(async ({ project, input }) => {
    const list = await listNotifications(parts, project, input);
    for (const one of list.notifications) checker.notification(project.projectId, one.id, one);
    return respond(200, list);
  });
