import type { Throttle } from '../gateway/token-bucket.ts';
import type { FunctionDefinition } from './functions.ts';
import { type Resolve, textResolver } from './references.ts';
import { resourcesOf, type Template } from './template.ts';

/** One route of the HTTP API and the function behind it. */
export interface GatewayRoute {
  /** `POST /api/v1/projects/{projectId}`. */
  readonly routeKey: string;
  readonly method: string;
  /** The path's segments; one in braces is a parameter. */
  readonly segments: readonly string[];
  /** Name of the function. */
  readonly functionName: string;
  /** Milliseconds after which the gateway gives up on the function. */
  readonly timeout: number;
  readonly throttle: Throttle;
}

interface IntegrationProperties {
  readonly IntegrationType: string;
  readonly IntegrationUri: unknown;
  readonly PayloadFormatVersion?: string;
  readonly TimeoutInMillis?: number;
}

interface StageProperties {
  readonly DefaultRouteSettings?: RouteSettings;
  /** By route key. */
  readonly RouteSettings?: Readonly<Record<string, RouteSettings>>;
}

interface RouteSettings {
  readonly ThrottlingRateLimit?: number;
  readonly ThrottlingBurstLimit?: number;
}

/** API Gateway's quotas of an account and region, for a route whose stage sets nothing else. */
const accountThrottle: Throttle = { ratePerSecond: 10_000, burst: 5000 };

/** The most an HTTP API waits for an integration, and what it waits unless told otherwise. */
const integrationTimeout = 30_000;

/**
 * The template's routes.
 * @throws {Error} at a kind of route or integration that the local gateway does not imitate.
 */
export function readRoutes(
  template: Template,
  functions: readonly FunctionDefinition[],
  resolve: Resolve,
): readonly GatewayRoute[] {
  const text = textResolver(resolve);
  const throttleOf = readThrottles(template);
  return resourcesOf(template, 'AWS::ApiGatewayV2::Route').map(([logicalId, { Properties }]) => {
    const routeKey = text(Properties?.RouteKey, `RouteKey of "${logicalId}"`);
    const [method, path, ...rest] = routeKey.split(' ');
    if (!method || method === 'ANY' || !path?.startsWith('/') || path.includes('+') || rest[0]) {
      throw new Error(`The local gateway does not know routes such as "${routeKey}".`);
    }
    const target = text(Properties?.Target, `Target of "${logicalId}"`);
    const integrationId = target.replace(/^integrations\//, '');
    const integration = template.Resources[integrationId]?.Properties as unknown as
      | IntegrationProperties
      | undefined;
    if (
      integration?.IntegrationType !== 'AWS_PROXY' ||
      integration.PayloadFormatVersion !== '2.0'
    ) {
      throw new Error(`Route "${routeKey}" has no Lambda integration of payload format 2.0.`);
    }
    const uri = text(integration.IntegrationUri, `IntegrationUri of "${integrationId}"`);
    const behind = functions.find(({ arn }) => uri === arn || uri.includes(`${arn}/`));
    if (behind === undefined) {
      throw new Error(`Route "${routeKey}" leads to no function of the template.`);
    }
    return {
      routeKey,
      method,
      segments: path.split('/').slice(1),
      functionName: behind.name,
      timeout: integration.TimeoutInMillis ?? integrationTimeout,
      throttle: throttleOf(routeKey),
    };
  });
}

function readThrottles(template: Template): (routeKey: string) => Throttle {
  const [stage] = resourcesOf(template, 'AWS::ApiGatewayV2::Stage');
  const { RouteSettings = {}, DefaultRouteSettings } = (stage?.[1].Properties ??
    {}) as StageProperties;
  return (routeKey) => {
    const settings = RouteSettings[routeKey] ?? DefaultRouteSettings;
    return {
      ratePerSecond: settings?.ThrottlingRateLimit ?? accountThrottle.ratePerSecond,
      burst: settings?.ThrottlingBurstLimit ?? accountThrottle.burst,
    };
  };
}
