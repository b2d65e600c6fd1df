import { accessDenial, callerOf } from '../../../local/template/authorization.ts';

const deliver = 'arn:aws:lambda:us-east-1:000000000000:function:Deliver';
const invoke = { action: 'lambda:InvokeFunction', resource: deliver };
const grants = new Map([
  ['Send', [invoke]],
  ['Track', []],
]);

test('the caller is the one whose credentials signed the request', () => {
  const scope = '20260101/us-east-1/lambda/aws4_request';
  const authorization = `AWS4-HMAC-SHA256 Credential=Send/${scope}, SignedHeaders=host, Signature=0`;
  expect(callerOf({ authorization })).toBe('Send');
  expect(callerOf({})).toBe('');
});

test('what the role allows is not denied', () => {
  expect(accessDenial('Send', [invoke], grants)).toBeUndefined();
});

test.each([
  ['another role', 'Track', invoke],
  ['an unknown caller', '', invoke],
  ['another resource', 'Send', { ...invoke, resource: `${deliver}:1` }],
  ['another action', 'Send', { ...invoke, action: 'lambda:DeleteFunction' }],
])('%s is denied', (_, caller, need) => {
  expect(accessDenial(caller, [invoke, need], grants)).toContain('is not authorized to perform');
});

test('a denial names the caller, the action and the resource', () => {
  expect(accessDenial('Track', [invoke], grants)).toBe(
    `Track is not authorized to perform: lambda:InvokeFunction on resource: ${deliver} ` +
      'because no identity-based policy allows the lambda:InvokeFunction action',
  );
});
