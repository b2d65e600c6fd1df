import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startDynamoDb } from 'aws-emulator/dynamodb';
import { createResolver, readAssembly, resourcesOf, type Template } from 'aws-emulator/template';
import { build } from 'esbuild';
import { unzipSync } from 'fflate';
import { functionNames } from '../../contract/wire/routes.ts';
import { filesIn } from '../../lib/build/bundle-functions.ts';
import manifest from '../../lib/build/package.json' with { type: 'json' };
import { writeAwsPackage } from '../../lib/build/write-package.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { programOf, runCommand } from '../fixtures/npm-project.ts';
import { type AwsAccount, startAwsAccount } from './fixtures/aws-account.ts';
import { operatorIn } from './fixtures/operator.ts';

let packed: Folder;
/** The folder that was packed into the tarball. */
let contents: string;
let tarball: string;

beforeAll(async () => {
  packed = temporaryFolder();
  ({ folder: contents, tarball } = await writeAwsPackage(process.cwd(), packed.path));
}, 120_000);
afterAll(() => packed.remove());

// Without the internet: npm does not install the packages of the CDK.
const install = () => `npm install --offline --legacy-peer-deps --no-audit --no-fund ${tarball}`;

/** What npm installs beside the package when it has the internet. */
function link(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(resolve('node_modules', name), path);
  }
}

/** The resources without these properties. The metadata of a resource name the CDK's files. */
function resourcesWithout({ Resources }: Template, ...names: readonly string[]): unknown {
  return JSON.parse(
    JSON.stringify(Resources, (name, value) => (names.includes(name) ? undefined : value)),
  );
}

describe('what it contains', () => {
  let project: Folder;

  beforeAll(async () => {
    project = temporaryFolder();
    project.write('package.json', '{ "private": true }');
    await run('sh', '-ec', install());
    link(project.path, ['aws-cdk-lib', 'constructs']);
  }, 120_000);
  afterAll(() => project.remove());

  const run = (command: string, ...args: string[]) =>
    runCommand(command, args, {
      cwd: project.path,
      env: { ...process.env, CDK_OUTDIR: 'cdk.out' },
    });

  const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

  test('it is smaller than 5 MB, and needs the CDK only', () => {
    const installed = join(project.path, 'node_modules/carillon-aws');
    const bytes = filesIn(installed).map((file) => statSync(file).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5_000_000);
    const { dependencies, peerDependencies, version } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    expect(dependencies).toBeUndefined();
    expect(Object.keys(peerDependencies)).toEqual(['aws-cdk-lib', 'constructs']);
    expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  test('it has the licences of the packages in its bundles', () => {
    const notices = readFileSync(join(contents, 'NOTICES'), 'utf8');
    // Of the command, the construct and the functions.
    for (const name of ['commander', 'zod', '@middy/core']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.`, 'm'));
    }
  });

  test('publint finds nothing', async () => {
    const publint = programOf('publint/src/cli.js');
    const output = await run(process.execPath, publint, 'run', tarball, '--strict');
    expect(output).toContain('All good!');
  });

  test('TypeScript resolves its types as Node does', async () => {
    const attw = programOf('@arethetypeswrong/cli/dist/index.js');
    const options = ['--no-definitely-typed', '--format', 'json'];
    const { analysis } = JSON.parse(await run(process.execPath, attw, tarball, ...options));
    expect(analysis.problems).toEqual([]);
  });

  const use = `
    import { App, Stack } from 'aws-cdk-lib';
    import { Carillon } from 'carillon-aws';
    const stack = new Stack(new App(), 'MyApp');
    const push = new Carillon(stack, 'Push', { vapidSubject: 'you@carillon.net', alarmEmail: 'none' });
    console.log(push.node.path);`;

  test('TypeScript knows its props and members', async () => {
    const file = project.write(
      'use.mts',
      `${use}
       const name: string = push.tables.subscriptions.tableName + push.apiUrl;
       // @ts-expect-error
       new Carillon(stack, 'Other', { vapidSubject: 'you@carillon.net', subscriberCaps: 7 });
       // @ts-expect-error
       new Carillon(stack, 'Third', {});
       // @ts-expect-error
       push.functions.sned;
       // @ts-expect-error
       push.alarms.userAffected;
       export { name };`,
    );
    const types = ['--typeRoots', programOf('@types'), '--types', 'node', '--lib', 'es2023'];
    const strict = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext'];
    const tsc = programOf('typescript/bin/tsc');
    // Not exactOptionalPropertyTypes, with which types of the CDK are errors.
    const options = [...strict, ...types, '--skipLibCheck', 'false'];
    expect(await run(process.execPath, tsc, ...options, file)).toBe('');
  });

  test('every optional prop accepts undefined', () => {
    const declared = readFileSync(join(contents, 'index.d.ts'), 'utf8');
    const optional = [...declared.matchAll(/readonly \w+\?: [^;]+;/g)].map(String);
    expect(optional.length).toBeGreaterThan(20);
    expect(optional.filter((member) => !/\bundefined\b/.test(member))).toEqual([]);
  });

  test.each([
    ['use.mjs', use],
    ['use.cjs', use.replaceAll(/import (\{.*\}) from ('.*');/g, 'const $1 = require($2);')],
  ])('Node loads it in %s', async (file, code) => {
    project.write(file, code);
    expect(await run(process.execPath, file)).toBe('MyApp/Push\n');
  });

  test('its app has the template and the functions of a clone, by their hashes', async () => {
    const clone = readAssembly(sharedAssembly);
    project.write(
      'carillon.json',
      JSON.stringify({ vapidSubject: 'mailto:operator@carillon.net' }),
    );
    await run(process.execPath, 'node_modules/carillon-aws/app.js');
    const { template, directory } = readAssembly(join(project.path, 'cdk.out'));
    expect(resourcesWithout(template, 'Metadata')).toEqual(
      resourcesWithout(clone.template, 'Metadata'),
    );
    const assets = resourcesOf(clone.template, 'AWS::Lambda::Function').map(
      ([, { Metadata }]) => Metadata!['aws:asset:path'] as string,
    );
    for (const asset of assets) {
      const bundle = join(clone.directory, asset);
      const ofClone = filesIn(bundle).map((file) => [
        relative(bundle, file),
        sha256(readFileSync(file)),
      ]);
      const zip = unzipSync(readFileSync(join(directory, `${asset}.zip`)));
      const zipped = Object.entries(zip).map(([path, content]) => [path, sha256(content)]);
      expect(Object.fromEntries(zipped)).toEqual(Object.fromEntries(ofClone));
    }
    expect(new Set(assets).size).toBe(readdirSync(join(contents, 'assets')).length - 1);
  });

  /** Synthesizes the app of an example. */
  async function synthesized(example: string, context = {}): Promise<Template> {
    cpSync(`examples/${example}`, project.path, {
      recursive: true,
      filter: (path) => !['package.json', 'node_modules'].includes(basename(path)),
    });
    project.write('package.json', '{ "private": true, "type": "module" }');
    await run('env', `CDK_CONTEXT_JSON=${JSON.stringify(context)}`, process.execPath, 'app.js');
    return readAssembly(join(project.path, 'cdk.out')).template;
  }

  test('in the example with CloudFront, it sends browsers to the distribution, which knows the secret', async () => {
    const hash = 'a'.repeat(64);
    const template = await synthesized('cloudfront', {
      originSecretHash: hash,
      originLabel: 'a1b2',
    });
    const propertiesOf = (type: string) =>
      resourcesOf(template, type).map(([, { Properties }]) => Properties!);
    const [distribution] = propertiesOf('AWS::CloudFront::Distribution');
    const [api] = propertiesOf('AWS::ApiGatewayV2::Api');
    expect(api).toMatchObject({ DisableExecuteApiEndpoint: true });
    expect(distribution!.DistributionConfig).toMatchObject({
      Origins: [
        {
          DomainName: 'a1b2.push-origin.carillon.net',
          CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginReadTimeout: 30 },
          OriginCustomHeaders: [{ HeaderName: 'X-Origin-Secret' }],
        },
      ],
      DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' },
    });
    expect(JSON.stringify(distribution)).toContain('{{resolve:secretsmanager:');
    expect(JSON.stringify(propertiesOf('AWS::CloudFront::ResponseHeadersPolicy'))).toContain(
      '"StrictTransportSecurity":{"AccessControlMaxAgeSec":31536000',
    );
    const environments = propertiesOf('AWS::Lambda::Function').map(
      ({ Environment }) => Environment,
    );
    expect(environments).toContainEqual({
      Variables: expect.objectContaining({
        ...{ PUBLIC_BASE_URL: 'https://push.carillon.net', ORIGIN_SECRET_HASHES: hash },
        REQUIRE_ORIGIN_SECRET: 'true',
      }),
    });
  });

  test('the example’s function may read its secret, and its role the tables', async () => {
    const template = await synthesized('cdk-app');
    const found = (type: string, start: string) =>
      resourcesOf(template, type).find(([id]) => id.startsWith(start))![1].Properties!;
    expect(found('AWS::Lambda::Function', 'Notify').Environment).toMatchObject({
      Variables: {
        CARILLON_BASE_URL: { 'Fn::GetAtt': [expect.stringMatching(/^PushHttpApi/), 'ApiEndpoint'] },
      },
    });
    expect(JSON.stringify(found('AWS::IAM::Policy', 'Operator'))).toContain('dynamodb:PutItem');
    expect(resourcesOf(template, 'AWS::S3::Bucket')).toHaveLength(1);
  });
});

describe('in an app of somebody else', () => {
  /** With the lowest versions that the package allows, and tools that read its constructs and bundles. */
  let consumer: Folder;
  const { peerDependencies } = manifest;
  const lowest = Object.entries(peerDependencies).map(
    ([name, range]) => name + range.replace('^', '@'),
  );
  const tools = [
    ...['cdk-nag@2.37.55', '@cspotcode/source-map-support@0.8.1', '@opentelemetry/api@1.9.0'],
    ...['@opentelemetry/instrumentation@0.218.0', '@opentelemetry/sdk-trace-node@2.7.1'],
    '@opentelemetry/instrumentation-aws-lambda@0.70.0',
  ];

  beforeAll(async () => {
    consumer = temporaryFolder();
    consumer.write('package.json', '{ "private": true }');
    // With the internet, and neither --force nor --legacy-peer-deps.
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await runIn(consumer, 'npm', 'install', ...options, ...lowest, ...tools, tarball);
  }, 120_000);
  afterAll(() => consumer.remove());

  const runIn = (folder: Folder, command: string, ...args: string[]) =>
    runCommand(command, args, { cwd: folder.path, env: { ...process.env, CDK_OUTDIR: 'cdk.out' } });

  /** What a program that fails prints as errors. */
  async function failure(...args: string[]): Promise<string> {
    const options = { cwd: consumer.path, env: { ...process.env, CDK_OUTDIR: 'cdk.out' } };
    const run = promisify(execFile)(process.execPath, args, options);
    const { stderr } = await run.catch((error: { readonly stderr: string }) => error);
    return stderr;
  }

  /** An app in CommonJS. */
  const app = (props: string, before = '') => `
    const { App, Aspects, Stack } = require('aws-cdk-lib');
    const ec2 = require('aws-cdk-lib/aws-ec2');
    const lambda = require('aws-cdk-lib/aws-lambda');
    const { Carillon } = require('carillon-aws');
    const app = new App();
    const env = { account: '111122223333', region: 'eu-west-1' };
    const stack = new Stack(app, 'Shop', { env });
    ${before}
    new Carillon(stack, 'Push', { vapidSubject: 'push@carillon.net', ${props} });
    app.synth();`;
  const everything = `
    alarmEmail: 'ops@carillon.net', monthlyBudget: 9, exportOutputs: true,
    vpc: ec2.Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId: 'vpc-1', availabilityZones: ['a'], privateSubnetIds: ['subnet-1'],
    }),
    domainName: 'push.carillon.net', hostedZoneId: 'Z0123456789',
    certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1234-abcd'`;

  test('the lowest and the newest CDK give the same resources', async () => {
    const newest = temporaryFolder();
    try {
      link(newest.path, ['aws-cdk-lib', 'constructs']);
      cpSync(contents, join(newest.path, 'node_modules/carillon-aws'), { recursive: true });
      const resources = [consumer, newest].map(async (folder) => {
        folder.write('app.js', app(everything));
        await runIn(folder, process.execPath, 'app.js');
        const { template } = readAssembly(join(folder.path, 'cdk.out'));
        // Dashboards and budgets can have tags only lately.
        return resourcesWithout(template, 'Metadata', 'Tags', 'ResourceTags');
      });
      const [ofLowest, ofNewest] = await Promise.all(resources);
      expect(ofLowest).toEqual(ofNewest);
    } finally {
      newest.remove();
    }
  });

  test('cdk-nag 2 finds nothing', async () => {
    const checks = "Aspects.of(app).add(new (require('cdk-nag').AwsSolutionsChecks)());";
    consumer.write('app.js', app(everything, checks));
    await runIn(consumer, process.execPath, 'app.js');
    const manifest = JSON.parse(readFileSync(join(consumer.path, 'cdk.out/manifest.json'), 'utf8'));
    const metadata: Readonly<Record<string, readonly { readonly type: string; data: unknown }[]>> =
      manifest.artifacts.Shop.metadata;
    const found = Object.entries(metadata).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => /^aws:cdk:(error|warning)$/.test(type))
        .map(({ data }) => `${path}: ${data}`),
    );
    expect(Object.keys(metadata).length).toBeGreaterThan(100);
    expect(found.filter((finding) => finding.startsWith('/Shop/Push/'))).toEqual([]);
  });

  test('with a layer of OpenTelemetry that an aspect adds, every function loads', async () => {
    const aspect = `
      const arn = 'arn:aws:lambda:eu-west-1:184161586896:layer:opentelemetry-nodejs:1';
      const layer = lambda.LayerVersion.fromLayerVersionArn(stack, 'Layer', arn);
      Aspects.of(app).add({ visit: (node) => {
        if (node instanceof lambda.Function) node.addLayers(layer);
      } });`;
    consumer.write('app.js', app("alarmEmail: 'none'", aspect));
    await runIn(consumer, process.execPath, 'app.js');
    const { template, directory } = readAssembly(join(consumer.path, 'cdk.out'));
    const resolve = createResolver(template);
    const functions = resourcesOf(template, 'AWS::Lambda::Function').map(([id, { Properties }]) => {
      const { Layers, Environment, Code } = Properties as {
        readonly Code: { readonly S3Key: string };
        readonly Layers: readonly string[];
        readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
      };
      expect([id, Layers]).toEqual([id, [expect.stringContaining('opentelemetry')]]);
      const zip = unzipSync(readFileSync(join(directory, `asset.${Code.S3Key}`)));
      for (const [file, content] of Object.entries(zip))
        consumer.write(`task/${id}/${file}`, content);
      const variables = Object.entries(Environment.Variables);
      return {
        id,
        variables: variables.map(([name, value]) => [name, String(resolve(value, name))]),
      };
    });
    expect(functions.length).toBe(functionNames.length);
    // What the layer's wrapper does for the handler of its function.
    consumer.write(
      'layer.js',
      `
      const { AwsLambdaInstrumentation } = require('@opentelemetry/instrumentation-aws-lambda');
      const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
      new NodeTracerProvider().register();
      for (const { id, variables } of ${JSON.stringify(functions)}) {
        const task = __dirname + '/task/' + id;
        Object.assign(process.env, Object.fromEntries(variables), {
          LAMBDA_TASK_ROOT: task, _HANDLER: 'index.handler', AWS_REGION: 'eu-west-1',
        });
        new AwsLambdaInstrumentation();
        console.log(id, require(task + '/index.js').handler.__wrapped);
      }`,
    );
    const loaded = await runIn(consumer, process.execPath, 'layer.js');
    expect(loaded.trim().split('\n')).toEqual(functions.map(({ id }) => `${id} true`));
  });

  test.each([
    ['CommonJS', 'app.js'],
    ['an ES module', 'app.mjs'],
    ['TypeScript with tsx', programOf('tsx/dist/cli.mjs'), 'app.ts'],
    // It finds the line of an error in its file.
    ['what ts-node installs', '--require', '@cspotcode/source-map-support/register', 'app.js'],
  ])(
    'of an uncaught error in %s, the message is printed first, and no code of the package',
    async (_, ...args) => {
      const invalid = app('subscriberCap: 0');
      consumer.write('app.js', invalid);
      const module = invalid.replaceAll(
        /const (\{.*\}|\w+) = require\((.*)\);/g,
        (_, names, name) =>
          `import ${names.startsWith('{') ? names : `* as ${names}`} from ${name};`,
      );
      for (const file of ['app.mjs', 'app.ts']) consumer.write(file, module);
      const printed = await failure(...args);
      expect(printed.split('\n').slice(0, 2)).toEqual([
        'SettingsError: Carillon "Shop/Push":',
        'setting subscriberCap must be a whole number from 1 to 999999999; it is 0',
      ]);
      expect(printed.length).toBeLessThan(2000);
    },
  );

  test('if the package is bundled with the app, the error names the remedy', async () => {
    const bundled = async (...external: string[]) => {
      consumer.write('app.js', app("alarmEmail: 'none'"));
      await build({
        ...{ entryPoints: [join(consumer.path, 'app.js')], absWorkingDir: consumer.path },
        ...{ outfile: join(consumer.path, 'dist/app.js'), bundle: true, platform: 'node' },
        external: ['aws-cdk-lib', 'constructs', ...external],
      });
      return failure('dist/app.js');
    };
    expect(await bundled()).toContain(
      "SettingsError: The code of Carillon's functions is not in " +
        `${consumer.path}/dist/assets. If a bundler bundles your app, let it leave out the package: esbuild --external:carillon-aws\n`,
    );
    expect(await bundled('carillon-aws')).toBe('');
  });
});

describe('its command', () => {
  let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
  let aws: AwsAccount;
  let home: Folder;
  /** Where the operator works: empty at first. */
  let folder: string;
  let operator: ReturnType<typeof operatorIn>;

  beforeEach(async () => {
    dynamoDb = await startDynamoDb();
    aws = await startAwsAccount(dynamoDb.endpoint);
    home = temporaryFolder();
    folder = join(home.path, 'push');
    mkdirSync(folder);
    operator = operatorIn(folder, home, aws);
  });
  afterEach(async () => {
    operator.remove();
    await aws.stop();
    await dynamoDb.stop();
    expect(aws.unknown).toEqual([]);
  });

  const installCdk = () => link(folder, ['aws-cdk', 'aws-cdk-lib', 'constructs', '.bin/cdk']);

  const settings = () => JSON.parse(readFileSync(join(folder, 'carillon.json'), 'utf8'));

  test('from an empty folder to an API key card, with the package only', async () => {
    expect((await operator.run(install())).code).toBe(0);
    installCdk();
    const { code, output } = await operator.run('npx carillon deploy', {
      answers: [
        ['push services can reach you: ', 'push@carillon.net'],
        ['alarms notify, or "none" [none]: ', ''],
        ['Create this in 111122223333, eu-west-1? [y/N] ', 'y'],
        ['Id of your first project [my-site]: ', ''],
      ],
    });
    expect(output).toContain('API key card of project "my-site"');
    expect(output).toContain('Now check it: npx carillon doctor --deliver');
    expect(code).toBe(0);
    expect(settings()).toEqual({
      ...{ region: 'eu-west-1', vapidSubject: 'push@carillon.net', alarmEmail: 'none' },
    });
    expect(aws.cloudFormation.find('Carillon')).toMatchObject({
      ...{ status: 'CREATE_COMPLETE', isProtected: true },
    });

    // The other commands read stack and region from the file.
    const listed = await operator.run('npx carillon list', { env: { AWS_REGION: undefined } });
    expect(listed.output).toContain('my-site');
    expect(listed.code).toBe(0);

    const updated = await operator.run('npx carillon deploy', { answers: [] });
    expect(updated.output).toContain('Carillon (no changes)');
    expect(updated.code).toBe(0);
  });

  test('without the CDK, the error names what to install', async () => {
    await operator.run(install());
    const { code, output } = await operator.run('npx carillon deploy');
    expect(output).toContain('Run: npm install aws-cdk aws-cdk-lib constructs');
    expect(code).toBe(1);
  });

  test('an app of the CDK is deployed as always, and the command finds the service in it', async () => {
    cpSync('examples/cdk-app', folder, {
      recursive: true,
      filter: (path) => !['package.json', 'node_modules'].includes(basename(path)),
    });
    await operator.run(install());
    installCdk();
    await aws.bootstrap();
    const deployed = await operator.run('npx cdk deploy --require-approval never');
    expect(deployed.output).toContain('PhotoShop');
    expect(deployed.code).toBe(0);

    const create = 'npx carillon create photos --region eu-west-1';
    const { output, code } = await operator.run(`${create} --stack PhotoShop/Push`);
    expect(output).toContain('API key card of project "photos"');
    expect(output).toContain('Base URL                https://PushHttpApi');
    expect(code).toBe(0);
    const unclear = await operator.run(`${create} --stack PhotoShop`);
    expect(unclear.output).toContain(
      'Choose a service of stack "PhotoShop": --stack PhotoShop/Push.',
    );
    expect(unclear.code).toBe(1);
  });

  test('a later version is deployed after the operator has agreed, and so is the one before', async () => {
    await operator.run(install());
    installCdk();
    await aws.bootstrap();
    const set = '--set vapidSubject=push@carillon.net alarmEmail=none';
    await operator.run(`npx carillon deploy ${set} --yes --project shop`);
    const templateNow = () => structuredClone(aws.cloudFormation.find('Carillon')!.template);
    const before = templateNow();

    const assets = 'push/node_modules/carillon-aws/assets/assets.json';
    const list = readFileSync(join(home.path, assets), 'utf8');
    const { hash } = JSON.parse(list).send;
    for (const version of [list.replace(hash, 'f'.repeat(64)), list]) {
      home.write(assets, version);
      const { code, output } = await operator.run('npx carillon deploy', {
        answers: [['(y/n) ', 'y']],
      });
      expect(output).toContain('Do you wish to deploy these changes?');
      expect(code).toBe(0);
      if (version === list) expect(templateNow()).toEqual(before);
      else expect(templateNow()).not.toEqual(before);
    }
  });

  test('a malformed carillon.json is named, and nothing is done', async () => {
    await operator.run(install());
    installCdk();
    home.write('push/carillon.json', '{ "stage": ');
    for (const command of ['deploy', 'list']) {
      const { code, output } = await operator.run(`npx carillon ${command}`);
      expect(output).toMatch(/^\S+carillon\.json is malformed: [^\n]+\n$/);
      expect(code).toBe(1);
    }
    expect(aws.calls).toEqual([]);
  });

  test('a stage has its own stack, which the other commands use then', async () => {
    await operator.run(install());
    installCdk();
    await aws.bootstrap();
    const set = '--set vapidSubject=push@carillon.net alarmEmail=none stage=eu';
    const { code, output } = await operator.run(`npx carillon deploy ${set} --yes --project shop`);
    expect(output).toContain('API key card of project "shop"');
    expect(code).toBe(0);
    expect((await operator.run('npx carillon show shop')).code).toBe(0);
    const other = await operator.run('npx carillon list --stack Carillon');
    expect(other.output).toContain('Deploy it with npx carillon deploy, or choose another');
  });
});
