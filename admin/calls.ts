/** Is set by the build of the package `carillon-aws`. A clone does not have it. */
declare const IS_PACKAGE: true | undefined;

const isPackage = typeof IS_PACKAGE !== 'undefined';

/** How users call the operator's command. Without `-s`, npm prints a banner before the output. */
export const programName = isPackage ? 'npx carillon' : 'npm run -s carillon --';

/** How users deploy. Options need a `--` before them in a clone. */
export const deployCall = isPackage ? 'npx carillon deploy' : 'npm run -s deploy';
export const deployName = isPackage ? deployCall : `${deployCall} --`;
