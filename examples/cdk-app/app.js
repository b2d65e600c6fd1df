import { App, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { LambdaDestination } from 'aws-cdk-lib/aws-s3-notifications';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Carillon } from 'carillon-aws';

const stack = new Stack(new App(), 'PhotoShop');

const push = new Carillon(stack, 'Push', {
  // Write yours: push services complain to it.
  vapidSubject: 'push@carillon.net',
  alarmEmail: 'none',
  // For the operator's command.
  exportOutputs: true,
});

// The card of the project has the key. It is stored here by hand: see the README.
const secretKey = new secretsmanager.Secret(stack, 'SecretKey');

// Notifies about each new photo.
const notify = new lambda.Function(stack, 'Notify', {
  runtime: lambda.Runtime.NODEJS_24_X,
  handler: 'notify.handler',
  code: lambda.Code.fromAsset('function'),
  environment: {
    CARILLON_BASE_URL: push.apiUrl,
    CARILLON_PROJECT: 'photos',
    SECRET_KEY_ARN: secretKey.secretArn,
  },
});
secretKey.grantRead(notify);
const photos = new s3.Bucket(stack, 'Photos');
photos.addEventNotification(s3.EventType.OBJECT_CREATED, new LambdaDestination(notify));

// Who has this role can call `npx carillon create`, `list`, `show` and the others.
const operator = new iam.Role(stack, 'Operator', { assumedBy: new iam.AccountRootPrincipal() });
push.grantManage(operator);
