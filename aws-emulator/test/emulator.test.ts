import { startDynamoDb } from '../dynamodb.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { startGateway } from '../gateway.ts';
import type { Resource } from '../template.ts';
import { type Folder, useFolder } from './fixtures.ts';
import { ownResponses } from './test-gateway.ts';

/** Calls DynamoDB as the SDK does. Responds with the time, and with the response of the call. */
const handler = `
  exports.handler = async ({ pathParameters: { operation }, body }) => {
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ACCESS_KEY_ID, TABLE } = process.env;
    const response = await fetch(AWS_ENDPOINT_URL_DYNAMODB, {
      method: 'POST',
      headers: {
        'x-amz-target': 'DynamoDB_20120810.' + operation,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-date': '20261101T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=' + AWS_ACCESS_KEY_ID + '/20261101/us-east-1/dynamodb/aws4_request, ' +
          'SignedHeaders=host, Signature=0',
      },
      body: JSON.stringify({ TableName: TABLE, ...JSON.parse(body) }),
    });
    return { now: Date.now(), status: response.status, result: await response.json() };
  };`;

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

/** An app with a table, a function that may put and get its items, and a route. */
const resources: Readonly<Record<string, Resource>> = {
  Notes: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    },
  },
  Role: { Type: 'AWS::IAM::Role' },
  Policy: {
    Type: 'AWS::IAM::Policy',
    Properties: {
      Roles: [{ Ref: 'Role' }],
      PolicyDocument: {
        Statement: {
          Effect: 'Allow',
          Action: ['dynamodb:PutItem', 'dynamodb:GetItem'],
          Resource: arnOf('Notes'),
        },
      },
    },
  },
  Call: {
    Type: 'AWS::Lambda::Function',
    Metadata: { 'aws:asset:path': 'asset.call' },
    Properties: {
      Handler: 'index.handler',
      Role: arnOf('Role'),
      Timeout: 20,
      Environment: { Variables: { TABLE: { Ref: 'Notes' } } },
    },
  },
  Integration: {
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: {
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: arnOf('Call'),
      PayloadFormatVersion: '2.0',
    },
  },
  Route: {
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: {
      RouteKey: 'POST /calls/{operation}',
      Target: { 'Fn::Join': ['/', ['integrations', { Ref: 'Integration' }]] },
    },
  },
};

const folder = useFolder();

function writeAssembly({ path, write }: Folder): string {
  const stack = { type: 'aws:cloudformation:stack', properties: { templateFile: 'T.json' } };
  write('manifest.json', JSON.stringify({ artifacts: { Notes: stack } }));
  write('T.json', JSON.stringify({ Resources: resources }));
  write('asset.call/index.js', handler);
  return path;
}

test('an app runs: its routes, functions, tables and roles, and frozen functions', async () => {
  const gateway = await startGateway({
    responses: ownResponses,
    starting: () => ({ status: 503, headers: {}, body: Buffer.from('') }),
  });
  const dynamodb = await startDynamoDb();
  let emulator: Emulator | undefined;
  const call = async (operation: string, parameters: object) => {
    const response = await fetch(`${gateway.origin}/calls/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    });
    const text = await response.text();
    return { code: response.status, ...(text && JSON.parse(text)) };
  };
  try {
    expect(await call('GetItem', {})).toEqual({ code: 503 });
    emulator = await startEmulator({ assembly: writeAssembly(folder), gateway, dynamodb });

    const item = { id: { S: '1' }, text: { S: 'ding' } };
    expect(await call('PutItem', { Item: item })).toMatchObject({ code: 200, status: 200 });
    const key = { Key: { id: item.id } };
    expect(await call('GetItem', key)).toMatchObject({ status: 200, result: { Item: item } });
    expect(await call('DeleteItem', key)).toMatchObject({
      status: 400,
      result: {
        message: expect.stringContaining('is not authorized to perform: dynamodb:DeleteItem'),
      },
    });

    expect(emulator.freeze(3_600_000, 'reset')).toMatchObject({ dynamodb: 1, lambda: 0 });
    // The function does not know that its connection to the database is gone.
    expect(await call('GetItem', key)).toMatchObject({ code: 500 });
    const { now } = await call('GetItem', key);
    expect(now).toBeGreaterThanOrEqual(Date.now() + 3_000_000);
  } finally {
    await emulator?.stop();
    await gateway.stop();
    await dynamodb.stop();
  }
  await expect(call('GetItem', {})).rejects.toThrow('fetch failed');
});
