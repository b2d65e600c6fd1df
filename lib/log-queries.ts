import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { refusals } from '../contract/infrastructure/metrics.ts';
import { accessLog } from './http-api.ts';

export interface LogQueriesProps {
  readonly service: string;
  /** Log groups of the functions that push. */
  readonly pushing: readonly logs.ILogGroup[];
  /** Log groups of all functions. */
  readonly functions: readonly logs.ILogGroup[];
  /** Log group of the API. */
  readonly access: logs.ILogGroup;
}

/** Queries of CloudWatch Logs Insights, in the console under the service's name. The runbook uses them. */
export class LogQueries extends Construct {
  private readonly service: string;

  constructor(scope: Construct, id: string, props: LogQueriesProps) {
    super(scope, id);
    const { service, pushing, functions, access } = props;
    this.service = service;
    const all = [...functions, access];
    this.query('Failures by reason and push service', pushing, [
      "filter message = 'failed pushes'",
      'stats sum(failed) as pushes by push_service, reason',
      'sort pushes desc',
    ]);
    this.query('Failures by project', pushing, [
      "filter message = 'delivery' and failed > 0",
      'stats sum(failed) as pushes, sum(attempted) as of by project_id',
      'sort pushes desc',
    ]);
    this.query('Slowest sends', pushing, [
      "filter message = 'request'",
      'fields @timestamp, project_id, status, ms, request_id',
      'sort ms desc',
      'limit 20',
    ]);
    this.query('Errors', functions, [
      // Lines of the functions and their runtime, and Lambda's reports of invocations that failed.
      "filter level = 'ERROR' or record.status in ['timeout', 'error', 'failure']",
      'fields @timestamp, service, message, code, error.name, error.message, request_id, @message',
      'sort @timestamp desc',
      'limit 100',
    ]);
    this.query(
      'Responses by route and status',
      [access],
      [
        `parse @message "${accessLog.format.replace(/\$[\w.]+/g, '*')}" as ${accessLog.fields.join(', ')}`,
        'stats count(*) as responses, max(ms) as longest_ms by route, status',
        'sort responses desc',
      ],
    );
    this.query('Lines of one request', all, [
      // The gateway's id, which functions and the API log, or Lambda's, which Lambda's own lines have.
      "filter @message like 'REQUEST ID'",
      'fields @timestamp, @log, @message',
      'sort @timestamp asc',
    ]);
    this.query('Busiest networks and projects', functions, [
      "filter message = 'request'",
      // Lines of track count events, and have network and project of the last one.
      'fields greatest(coalesce(shown, 0) + coalesce(clicked, 0), 1) as requests_of_line',
      'stats sum(requests_of_line) as requests by network, project_id, service',
      'sort requests desc',
      'limit 20',
    ]);
    this.query('Refused subscribers', functions, [
      `filter code = '${refusals.subscribe.code}'`,
      'stats count(*) as requests by project_id, network',
      'sort requests desc',
    ]);
    this.query('Use of previous secret keys', functions, [
      "filter message = 'request' and ispresent(previous_key)",
      'stats count(*) as requests, max(@timestamp) as last_use by project_id, network',
      'sort last_use desc',
    ]);
    this.query('Cost per send', pushing, [
      "filter type = 'platform.report'",
      // Lambda's prices of Arm in us-east-1: for 1 GB and second, and for one invocation.
      'fields record.metrics.billedDurationMs / 1000 * record.metrics.memorySizeMB / 1024 * 0.0000133334 + 0.0000002 as dollars',
      "fields strcontains(@log, 'SendLog') as is_send",
      'stats sum(dollars) as total, sum(is_send) as sends, sum(dollars) / sum(is_send) as per_send',
    ]);
  }

  private query(
    name: string,
    logGroups: readonly logs.ILogGroup[],
    lines: readonly string[],
  ): void {
    new logs.CfnQueryDefinition(this, name.replace(/\W/g, ''), {
      name: `${this.service}/${name}`,
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
      queryString: lines.join('\n| '),
    });
  }
}
