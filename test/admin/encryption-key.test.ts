import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { checkEncryptionKey, type KeyPolicy } from '../../admin/deploy/encryption-key.ts';
import { AwsError, listen, readCall, respondTo } from '../fixtures/aws-protocols.ts';

const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/1234-abcd';
const account = {
  accountId: '111122223333',
  region: 'eu-west-1',
  caller: 'arn:aws:iam::111122223333:user/ann',
  cloudFormation: new CloudFormationClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  }),
};

let responses: Readonly<Record<string, unknown>>;
const inputs: unknown[] = [];
let server: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  server = await listen(async (request: IncomingMessage, response: ServerResponse) => {
    expect(request.headers.authorization).toContain('/eu-west-1/kms/aws4_request');
    const call = readCall(request, await text(request));
    inputs.push(call.input);
    respondTo(call, response, responses[call.operation]);
  });
  process.env.AWS_ENDPOINT_URL_KMS = server.url;
});
afterAll(async () => {
  delete process.env.AWS_ENDPOINT_URL_KMS;
  await server.stop();
});
beforeEach(() => {
  inputs.length = 0;
});

type Statement = KeyPolicy['Statement'][number];

const enabled = { KeyMetadata: { KeyState: 'Enabled', KeySpec: 'SYMMETRIC_DEFAULT' } };
const root = 'arn:aws:iam::111122223333:root';
/** What KMS gives a key that is created without a policy. */
const byDefault: Statement = { Effect: 'Allow', Principal: { AWS: root }, Action: 'kms:*' };
const needed = {
  ...byDefault,
  Action: [
    ...['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'],
    'kms:CreateGrant',
  ],
  Condition: { StringEquals: { 'kms:ViaService': 'dynamodb.eu-west-1.amazonaws.com' } },
};

function check(...Statement: readonly Statement[]): Promise<string | undefined> {
  responses = {
    DescribeKey: enabled,
    GetKeyPolicy: { Policy: JSON.stringify({ Version: '2012-10-17', Statement }) },
  };
  return checkEncryptionKey(keyArn, account);
}

test.each<[string, readonly Statement[]]>([
  ['of KMS by default', [byDefault]],
  ['with the statement that is printed', [needed]],
  ['that names the account', [{ ...byDefault, Principal: { AWS: ['111122223333'] } }]],
  [
    'in several statements',
    [
      { ...needed, Action: ['kms:*crypt*', 'kms:GenerateDataKey*'] },
      { ...needed, Principal: '*', Action: ['kms:DescribeKey', 'kms:CreateGrant'] },
    ],
  ],
])('a policy %s is accepted', async (_, statements) => {
  expect(await check(...statements)).toBeUndefined();
  expect(inputs).toEqual([{ KeyId: keyArn }, { KeyId: keyArn, PolicyName: 'default' }]);
});

test.each<[string, readonly Statement[]]>([
  ['without statements', []],
  ['of another account', [{ ...byDefault, Principal: { AWS: '444455556666' } }]],
  ['for one role', [{ ...byDefault, Principal: { AWS: 'arn:aws:iam::111122223333:role/a' } }]],
  [
    'for another service',
    [
      {
        ...byDefault,
        Condition: { StringEquals: { 'kms:ViaService': 's3.eu-west-1.amazonaws.com' } },
      },
    ],
  ],
  ['that only decrypts', [{ ...byDefault, Action: 'kms:Decrypt' }]],
  ['without grants', [{ ...needed, Action: needed.Action.slice(0, -1) }]],
  ['that denies', [{ ...byDefault, Effect: 'Deny' }]],
])('a policy %s is refused, with the statement that it needs', async (_, statements) => {
  const error = await check(...statements).catch((thrown: Error) => thrown);
  const { message } = error as Error;
  expect(error).toMatchObject({ code: 'encryption_key_unusable' });
  expect(message).toContain('Nothing was changed in AWS');
  const printed = JSON.parse(message.slice(message.indexOf('{'), message.lastIndexOf('}') + 1));
  expect(printed).toEqual({ Sid: 'CarillonTables', Resource: '*', ...needed });
});

test.each([
  [new AwsError('NotFoundException', 'No such key'), 'does not exist'],
  [{ KeyMetadata: { ...enabled.KeyMetadata, KeyState: 'PendingDeletion' } }, 'is PendingDeletion'],
  [{ KeyMetadata: { ...enabled.KeyMetadata, KeySpec: 'RSA_2048' } }, 'is RSA_2048'],
])('a key that cannot encrypt tables is refused: %p', async (DescribeKey, problem) => {
  responses = { DescribeKey };
  await expect(checkEncryptionKey(keyArn, account)).rejects.toThrow(`The key ${keyArn} ${problem}`);
});

test('a policy that may not be read is no reason to stop', async () => {
  const refused = new AwsError('AccessDeniedException', 'No');
  responses = { DescribeKey: refused, GetKeyPolicy: refused };
  const advice = await checkEncryptionKey(keyArn, account);
  expect(advice).toContain('You may not read the policy');
  expect(advice).toContain('"kms:ViaService": "dynamodb.eu-west-1.amazonaws.com"');
});
