/** Compares the template of all settings with AWS's schemas, in each region that AWS opens to everybody. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import cdkJson from '../cdk.json' with { type: 'json' };
import { bundleFunctions } from '../lib/build/bundle-functions.ts';
import { Carillon } from '../lib/carillon.ts';
import { assetsEntry } from '../lib/service-function.ts';
import { regionsWithoutBudgets } from '../lib/settings.ts';
import { installPythonTool } from './python-tool.ts';

interface Finding {
  readonly Rule: { readonly Id: string };
  readonly Message: string;
  readonly Location: { readonly Path: readonly (string | number)[] };
}

/** A dependency that a reference already makes: the CDK writes both. */
const redundantDependency = 'W3005';

const run = promisify(execFile);

/** @param folder of the bundled functions. @param outdir for the template. @returns the template's path. */
function synthesize(folder: string, outdir: string): string {
  const flags = Object.entries(cdkJson.context).filter(([name]) => name.startsWith('@'));
  const app = new App({ outdir, context: { ...Object.fromEntries(flags), [assetsEntry]: folder } });
  const stack = new Stack(app, 'Full');
  const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['a'],
    privateSubnetIds: ['subnet-0123456789abcdef0'],
    privateSubnetRouteTableIds: ['rtb-0123456789abcdef0'],
  });
  new Carillon(stack, 'Push', {
    ...{ vapidSubject: 'mailto:operator@carillon.net', alarmEmail: 'operator@carillon.net' },
    ...{ monthlyBudget: 20, vpc, exportOutputs: true, warmWritesPerSecond: 12_000 },
    domainName: 'push.carillon.net',
    certificateArn:
      'arn:aws:acm:eu-west-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef',
    hostedZoneId: 'Z0123456789ABCDEFGHIJ',
    encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef',
    ...{ originSecretHashes: ['a1'.repeat(32)], requireOriginSecret: true },
  });
  return join(outdir, app.synth().getStackByName('Full').templateFile);
}

/** A line for each finding that is neither the CDK's nor known. */
async function lint(programs: string, template: string): Promise<readonly string[]> {
  const listRegions =
    'from cfnlint.helpers import REGIONS; print(*(r for r in REGIONS if "iso" not in r))';
  const { stdout: listed } = await run(join(programs, 'python'), ['-c', listRegions]);
  const regions = listed.trim().split(' ');
  const options = ['--format', 'json', '--non-zero-exit-code', 'none'];
  const ignored = ['--ignore-checks', redundantDependency];
  const given = ['--regions', ...regions, '--template', template];
  const linted = await run(join(programs, 'cfn-lint'), [...options, ...ignored, ...given], {
    maxBuffer: 100e6,
  });
  const findings: readonly Finding[] = JSON.parse(linted.stdout);
  const withoutBudgets = findings.flatMap(
    ({ Message }) => /'AWS::Budgets::Budget' does not exist in '(.+)'/.exec(Message)?.[1] ?? [],
  );
  const changed = [...regionsWithoutBudgets, ...withoutBudgets].filter(
    (region) => !(regionsWithoutBudgets.includes(region) && withoutBudgets.includes(region)),
  );
  console.log(`Compared with AWS's schemas in ${regions.length} regions.`);
  return [
    ...findings
      .filter(({ Message }) => !Message.includes("'AWS::Budgets::Budget' does not exist"))
      .map(({ Rule, Location, Message }) => `${Rule.Id} ${Location.Path.join('/')}: ${Message}`),
    ...changed.map((region) => `regionsWithoutBudgets is wrong about ${region}.`),
  ];
}

const programs = await installPythonTool('cfn-lint==1.58.0');
if (programs !== undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-lint-'));
  try {
    await bundleFunctions(join(import.meta.dirname, '..'), folder);
    const findings = await lint(programs, synthesize(folder, join(folder, 'cdk.out')));
    for (const line of findings) console.log(line);
    process.exitCode = findings.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}
