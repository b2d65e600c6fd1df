import { tables } from './database/memory-database.ts';

/** The variables of the functions. The handlers of Lambda, which nobody calls here, read them as they are loaded. */
export const variables: Readonly<Record<string, string>> = {
  PROJECTS_TABLE: tables.projects,
  VAPID_KEYS_TABLE: tables.vapidKeys,
  IDENTITY_KEYS_TABLE: tables.identityKeys,
  SUBSCRIPTIONS_TABLE: tables.subscriptions,
  USAGE_TABLE: tables.usage,
  NOTIFICATIONS_TABLE: tables.notifications,
  DELIVERIES_TABLE: tables.deliveries,
  RATE_LIMITS_TABLE: tables.rateLimits,
  AUDIT_TABLE: tables.audit,
  DELIVER_FUNCTION: 'deliver',
  AWS_ENDPOINT_URL_LAMBDA: 'https://lambda.example',
  SUBSCRIBER_CAP: '1000000',
  MONTHLY_SEND_CAP: '10000',
  RATE_LIMIT_PER_MINUTE: '1000000',
  NOTIFICATION_DAYS: '90',
  PUSHES_PER_SECOND: '1',
  VAPID_SUBJECT: 'mailto:ops@example.com',
  EXTRA_PUSH_ORIGINS: 'https://push.example',
  PUBLIC_BASE_URL: 'https://api.example',
  ORIGIN_SECRET_HASHES: '',
  REQUIRE_ORIGIN_SECRET: 'false',
  PREFER_IPV6: 'false',
};

Object.assign(process.env, variables, { POWERTOOLS_METRICS_DISABLED: 'true' });
