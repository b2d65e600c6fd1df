import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { notificationIdSchema, projectIdSchema } from '../../contract/schemas/ids.ts';
import type { Middleware } from './response.ts';

/** The ids in a path. A parameter that is missing, or cannot be an id, is undefined. */
export interface PathIds {
  readonly projectId: string | undefined;
  readonly notificationId: string | undefined;
}

/** Validates the path parameters; the rest of the chain finds them as `ids`. */
export function pathIds(): Middleware<{ ids: PathIds }> {
  return {
    before: ({ event }) => {
      event.ids = readPathIds(event);
    },
  };
}

export function readPathIds({ pathParameters }: APIGatewayProxyEventV2): PathIds {
  return {
    projectId: projectIdSchema.safeParse(pathParameters?.projectId).data,
    notificationId: notificationIdSchema.safeParse(pathParameters?.notificationId).data,
  };
}
