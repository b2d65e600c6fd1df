/**
 * Stands in for the SDK's chain of credential providers in the deployed bundles: Lambda hands a
 * function its role's credentials in the environment, and the other providers are 130 kB that
 * each cold start would read.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
