import { type APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway';

/**
 * Requests per second that API Gateway accepts from all callers of the account in this region. Service Quotas shows
 * its default instead, 10,000, also where 2,500 apply.
 */
export async function requestsPerSecond(apiGateway: APIGatewayClient): Promise<number> {
  const { throttleSettings } = await apiGateway.send(new GetAccountCommand({}));
  return throttleSettings!.rateLimit!;
}
