/**
 * CloudWatch metrics that the send function emits and the dashboard and alarms read. Their one
 * dimension is `service`, the stack's name: Powertools takes it from POWERTOOLS_SERVICE_NAME, so
 * `Metrics` is made without a name of its own.
 */
export const metricNamespace = 'Carillon';

export const pushMetrics = {
  attempted: 'PushesAttempted',
  delivered: 'PushesDelivered',
  removed: 'PushesRemoved',
  failed: 'PushesFailed',
  /**
   * Refusals of the project's application server key or subject (401, 403). Every push of that
   * project will fail so until someone acts.
   */
  vapidRefused: 'VapidRefusals',
} as const;
