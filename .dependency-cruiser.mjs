/**
 * Who may import whom. An import that matches none of the allowed rules fails, and so does a circle.
 * A file may always import the files of its own folder: see `own` below.
 */

const contract = '^contract/';
const store = '^lambdas/store/';
const packages = '^node_modules/';
const node = { dependencyTypes: ['core'] };
const aPackage = (...names) => names.map((name) => `^node_modules/${name}/`);
const lambdaTypes = aPackage('@types/aws-lambda');

/** What the files of a folder may import. */
const may = (folder, ...paths) => ({ from: { path: `^${folder}/` }, to: { path: paths } });
const mayUseNode = (folder) => ({ from: { path: `^${folder}/` }, to: node });

const sources = 'admin|bench|bin|console|contract|examples|lib|local|sdk|test';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-description-in-bundles',
      severity: 'error',
      from: { path: '^(lambdas|sdk)/' },
      to: { path: '^contract/(openapi/|gateway-responses)' },
    },
  ],
  allowedSeverity: 'error',
  allowed: [
    // own: the folder at the top, and under lambdas/ the one below it.
    { from: { path: `^(${sources})/` }, to: { path: '^$1/' } },
    { from: { path: '^lambdas/([^/]+)/' }, to: { path: '^lambdas/$1/' } },

    may('contract', ...aPackage('zod')),

    may(
      'lambdas/http',
      contract,
      store,
      ...aPackage('@middy', '@aws-lambda-powertools', 'zod'),
      ...lambdaTypes,
    ),
    may('lambdas/push', contract),
    may('lambdas/store', contract, ...aPackage('@aws-sdk')),
    may('lambdas/results', contract, store, ...aPackage('@aws-lambda-powertools')),
    // The functions: every other folder under lambdas/.
    {
      from: { path: '^lambdas/(?!http/|push/|results/|store/)' },
      to: {
        path: [
          contract,
          '^lambdas/(http|results|store)/',
          '^lambdas/(route|notification)-function\\.ts$',
          ...aPackage('@middy', '@aws-lambda-powertools'),
          ...lambdaTypes,
        ],
      },
    },
    may('lambdas/deliver', '^lambdas/push/'),
    // Besides deliver: its type of the database client, and the library that this client signs with.
    may('lambdas/send', '^lambdas/deliver/', ...aPackage('@aws-sdk', '@smithy')),
    mayUseNode('lambdas'),

    // The stack refers to handlers by their path.
    may(
      'lib',
      contract,
      '^lambdas/store/items\\.ts$',
      ...aPackage('aws-cdk-lib', 'constructs', 'zod'),
    ),
    mayUseNode('lib'),
    may('lib/build', packages, '^package\\.json$'),

    may('admin', contract, store, packages, '^package\\.json$'),
    // Notifications with their counts, as the routes return them.
    may(
      'admin',
      '^lambdas/(get-notification/get-notification|list-notifications/list-notifications)\\.ts$',
    ),
    may('admin', '^sdk/(common/error|server/(attempt|carillon-server|project-client))\\.ts$'),
    mayUseNode('admin'),
    may(
      'bin',
      contract,
      '^admin/',
      '^console/',
      '^lib/',
      '^local/node-binary\\.ts$',
      '^sdk/build/',
      '^(package|cdk)\\.json$',
      packages,
    ),
    mayUseNode('bin'),
    may('console', contract, '^sdk/', '^admin/terminal/', packages),
    mayUseNode('console'),
    may('local', contract, store, '^admin/', '^console/', '^sdk/build/', packages),
    mayUseNode('local'),

    may('sdk', contract),
    may('sdk/build', packages, '^package\\.json$'),
    mayUseNode('sdk/build'),
    mayUseNode('sdk/server'),

    // The npm package, by its name.
    may('examples', '^carillon(-aws)?(/|$)'),
    may('examples/(react|cdk-app|cloudfront)', packages),
    // Of Lambda's runtime.
    may('examples/cdk-app/function', '^@aws-sdk/'),
    mayUseNode('examples'),

    may('bench', contract, '^(admin|lambdas|lib|local)/', packages),
    mayUseNode('bench'),
    may(
      'test',
      '^(admin|bench|bin|console|contract|lambdas|lib|local|sdk)/',
      packages,
      '^package\\.json$',
    ),
    mayUseNode('test'),
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
