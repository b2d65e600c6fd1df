/** Is set by the build of the package `carillon-aws`. A clone does not have it. */
declare const IS_PACKAGE: true | undefined;

const isPackage = typeof IS_PACKAGE !== 'undefined';

/** How users call the operator's command. Without `-s`, npm prints a banner before the output. */
export const programName = isPackage ? 'npx carillon' : 'npm run -s carillon --';

/** How users deploy. */
export const deployCall = isPackage ? 'npx carillon deploy' : 'npm run -s deploy';

/** {@link deployCall} where options follow. */
export const deployName = isPackage ? deployCall : `${deployCall} --`;

/** Where the settings of a deployment are. */
export const settingsFileName = isPackage ? 'carillon.json' : 'cdk.json';

/** Where the SDK's package comes from. */
export const sdkSource = isPackage
  ? 'attached to the release of this version'
  : 'written to sdk/dist/ by: npm run build:package';
