import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * The removal policy of tables and log groups. Unless disposable, they are kept when they leave the
 * stack or the stack is deleted. The rollback of a failed deployment deletes the resources that it created.
 */
export function removalPolicy(disposable: boolean): RemovalPolicy {
  return disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}
