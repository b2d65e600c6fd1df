// Lambda's runtime has it.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

const { CARILLON_BASE_URL, CARILLON_PROJECT, SECRET_KEY_ARN } = process.env;

const secrets = new SecretsManagerClient();

export async function handler(event) {
  const { SecretString } = await secrets.send(
    new GetSecretValueCommand({ SecretId: SECRET_KEY_ARN }),
  );
  const [{ s3, responseElements }] = event.Records;
  const response = await fetch(
    `${CARILLON_BASE_URL}/api/v1/projects/${CARILLON_PROJECT}/notifications`,
    {
      method: 'POST',
      // The secret key would go to the other address.
      redirect: 'error',
      headers: {
        authorization: `Bearer ${SecretString}`,
        'content-type': 'application/json',
        // S3 may report a photo twice.
        'idempotency-key': responseElements['x-amz-request-id'],
      },
      body: JSON.stringify({ title: 'A new photo', body: s3.object.key }),
    },
  );
  if (!response.ok) throw new Error(`Carillon responded ${response.status}`);
}
