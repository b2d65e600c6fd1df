import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * What CloudFormation does with tables and logs. Unless disposable they are kept when the stack is
 * deleted or no longer has them; those of a deployment that fails are deleted with its rollback.
 */
export function removalPolicy(disposable: boolean): RemovalPolicy {
  return disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}
