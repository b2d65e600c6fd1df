/**
 * Replaces the SDK's chain of credential providers in the deployed bundles. Lambda passes the role's
 * credentials in the environment; the other providers would add 130 kB to each cold start.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
