import { readFunctions } from './functions.ts';
import { type Assembly, resourcesOf, type Template, textResolver } from './template.ts';

/** The limit on all callers of a route together. */
export interface Throttle {
  readonly ratePerSecond: number;
  /** How many requests may come at once. */
  readonly burst: number;
}

/** One route of the HTTP API and its function. */
export interface GatewayRoute {
  /** `POST /api/v1/projects/{projectId}`. */
  readonly routeKey: string;
  readonly method: string;
  /** Segments of the path. A segment in braces is a parameter. */
  readonly segments: readonly string[];
  /** Name of the function. */
  readonly functionName: string;
  /** How long the gateway waits for the function. */
  readonly timeoutMs: number;
  readonly throttle: Throttle;
}

/** The route of a request, and the values of its parameters. */
export interface RouteMatch {
  readonly route: GatewayRoute;
  readonly parameters: Readonly<Record<string, string>>;
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

/** API Gateway's quota per account and region. It applies to routes without a throttle. */
const accountThrottle: Throttle = { ratePerSecond: 10_000, burst: 5000 };

/** The default and the maximum of an HTTP API. */
const integrationTimeoutMs = 30_000;

/**
 * Reads the assembly's routes.
 * @throws {Error} if the local gateway does not support the kind of a route or integration.
 */
export function readRoutes(assembly: Assembly): readonly GatewayRoute[] {
  const { template } = assembly;
  const functions = readFunctions(assembly);
  const text = textResolver(template);
  const throttleOf = readThrottles(template);
  return resourcesOf(template, 'AWS::ApiGatewayV2::Route').map(([logicalId, { Properties }]) => {
    const routeKey = text(Properties?.RouteKey, `RouteKey of "${logicalId}"`);
    const [method, path, ...rest] = routeKey.split(' ');
    if (!method || method === 'ANY' || !path?.startsWith('/') || path.includes('+') || rest[0]) {
      throw new Error(`The local gateway does not support the route "${routeKey}".`);
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
      throw new Error(`Route "${routeKey}" has no Lambda integration with payload format 2.0.`);
    }
    const uri = text(integration.IntegrationUri, `IntegrationUri of "${integrationId}"`);
    const invoked = functions.find(({ arn }) => uri === arn || uri.includes(`${arn}/`));
    if (invoked === undefined) {
      throw new Error(`Route "${routeKey}" does not invoke a function of the template.`);
    }
    return {
      routeKey,
      method,
      segments: path.split('/').slice(1),
      functionName: invoked.name,
      timeoutMs: integration.TimeoutInMillis ?? integrationTimeoutMs,
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

/**
 * Finds the route of a request. If several match, it returns the one with the fewest parameters.
 * @param path decoded.
 */
export function matchRoute(
  routes: readonly GatewayRoute[],
  method: string,
  path: string,
): RouteMatch | undefined {
  const segments = path.split('/').slice(1);
  const matches = routes.flatMap((route) => {
    if (route.method !== method || route.segments.length !== segments.length) return [];
    const parameters: Record<string, string> = {};
    for (const [index, expected] of route.segments.entries()) {
      const actual = segments[index] ?? '';
      const name = /^\{(.+)\}$/.exec(expected)?.[1];
      if (name === undefined ? actual !== expected : actual === '') return [];
      if (name !== undefined) parameters[name] = actual;
    }
    return [{ route, parameters }];
  });
  const count = ({ parameters }: RouteMatch) => Object.keys(parameters).length;
  return matches.sort((one, other) => count(one) - count(other))[0];
}
