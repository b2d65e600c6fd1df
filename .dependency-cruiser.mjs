/**
 * Which folder may import which. Packages need no list: each manifest says what its folder needs, and `exports` of
 * aws-emulator what the others may take from it.
 */

/** What a folder may import besides its own files. */
const may = (folder, ...others) => ({
  from: { path: `^${folder}` },
  to: { path: others.map((path) => `^${path}(/|$)`) },
});
const forbidden = (name, from, to) => ({ name, severity: 'error', from, to });

const store = 'lambdas/store';
const everything = '(admin|aws-emulator|bench|bin|console|contract|lambdas|lib|local|sdk|test)';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    forbidden('no-circle', {}, { circular: true }),
    // Manifests of published packages lie beside the code that builds them.
    forbidden(
      'declared-in-its-manifest',
      { pathNot: '^(lib|sdk)/build/|^examples/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    forbidden(
      'no-tools-where-it-is-deployed',
      { path: '^(admin|contract|lambdas|sdk/(?!build/))' },
      { dependencyTypes: ['npm-dev'], pathNot: '^node_modules/@types/' },
    ),
    // The command's packages are in the same manifest.
    forbidden(
      'small-functions',
      { path: '^lambdas/' },
      {
        path: '^node_modules/',
        pathNot: '^node_modules/(@aws-lambda-powertools|@aws-sdk|@middy|@smithy|@types|zod)/',
      },
    ),
    forbidden(
      'runs-in-browsers',
      { path: '^(contract|sdk/(?!build/|server/))' },
      { dependencyTypes: ['core'] },
    ),
    forbidden('only-zod', { path: '^contract/' }, { path: '^node_modules/(?!zod/)' }),
    forbidden(
      'no-description-in-bundles',
      { path: '^(lambdas|sdk)/' },
      { path: '^contract/(wording/openapi/|infrastructure/gateway-responses)' },
    ),
  ],
  allowedSeverity: 'error',
  allowed: [
    { from: {}, to: { path: '^node_modules/' } },
    { from: {}, to: { dependencyTypes: ['core'] } },

    // Its own files: of the folder at the top, and under lambdas/ of the one below it.
    { from: { path: '^(?!lambdas/)([^/]+)/' }, to: { path: '^$1/' } },
    { from: { path: '^lambdas/([^/]+)/' }, to: { path: '^lambdas/$1/' } },

    may('sdk/', 'contract'),
    may('sdk/build/', 'package\\.json'),
    may('console/', 'contract', 'sdk'),

    may('lambdas/push/', 'contract'),
    may('lambdas/store/', 'contract'),
    may('lambdas/(http|results)/', 'contract', store),
    // The functions: every other folder, and what they share.
    may('lambdas/(?!(http|push|results|store)/)', 'contract', 'lambdas/(http|results|store)'),
    may('lambdas/', 'lambdas/(host|(route|notification)-function)\\.ts'),
    may('lambdas/deliver/', 'lambdas/push'),
    may('lambdas/send/', 'lambdas/deliver'),

    // The stack refers to handlers by their path.
    may('lib/', 'contract', 'package\\.json'),
    may('lib/build/', 'sdk/build'),
    may(
      'admin/',
      'contract',
      'lambdas/(results|stop-notification|store)',
      'sdk/(common|server)',
      'package\\.json',
    ),
    may(
      'local/',
      'contract',
      store,
      'admin',
      'aws-emulator',
      'console',
      'sdk/build',
      'package\\.json',
    ),
    may('bin/', 'contract', 'admin', 'lib', 'sdk/build', '(package|cdk)\\.json'),
    may('(bench|test)/', everything, 'package\\.json'),
    // The npm packages, by their names.
    may('(examples|wordpress)/', 'carillon(-aws)?', '@aws-sdk'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^sdk/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require'] },
    // An import of a type alone is an import as well.
    tsPreCompilationDeps: true,
  },
};
