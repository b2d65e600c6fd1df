import { createHmac } from 'node:crypto';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';

// Cognito gives a trigger 5 s, and asks it up to three times.
const ssm = new SSMClient({ maxAttempts: 2 });

/** The identity key, read once for each environment of the function. */
let identityKey;

async function readIdentityKey() {
  const { Parameter } = await ssm.send(
    new GetParameterCommand({ Name: process.env.IDENTITY_KEY_PARAMETER, WithDecryption: true }),
  );
  return Parameter.Value;
}

/** Adds `push_signature` to the ID token: the signature of the user's `sub`. */
export async function handler(event) {
  const { sub } = event.request.userAttributes;
  try {
    identityKey ??= await readIdentityKey();
    const signature = createHmac('sha256', identityKey).update(sub).digest('base64url');
    event.response.claimsOverrideDetails = { claimsToAddOrOverride: { push_signature: signature } };
  } catch (error) {
    // An error would end the log-in. Without the claim, only the user id of the subscription is missing.
    console.error('No push_signature:', error);
  }
  return event;
}
