import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { checks, findingLine, type NamedFinding, runCheck } from '../doctor/checks.ts';
import { checkDelivery } from '../doctor/delivery.ts';
import { CommandError } from '../errors.ts';
import { newCommand } from '../terminal/command-line.ts';
import type { RunOnStack } from './command.ts';
import { writeCompleteFile } from './subscriptions.ts';

interface Options {
  readonly deliver?: true;
  readonly count?: true;
  readonly via?: string;
  readonly report?: string;
}

export function doctorCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'doctor',
    'Checks the deployment.',
    ...['', '--deliver', '--deliver --report run.json', '--stack Carillon-dev --json'],
  )
    .option(
      '--deliver',
      'also send notifications through a push service, and receive, decrypt and report them',
    )
    .addOption(
      new Option('--via <address>', 'WebSocket of the push service (default: Mozilla’s)')
        .argParser(readAddress)
        .implies({ deliver: true }),
    )
    .option('--count', 'also count projects with more than 100,000 subscribers')
    .option(
      '--report <file>',
      'write what was measured, without names, keys and messages, as docs/runs collects it',
    )
    .action(({ deliver, via, count, report: file }: Options) =>
      runOnStack(async (context) => {
        const startedAt = new Date();
        const pushService = deliver ? (via ?? context.pushService) : undefined;
        const { terminal, isJson, paint, print } = context;
        const findings: NamedFinding[] = [];
        const report = (finding: NamedFinding) => {
          findings.push(finding);
          if (!isJson) terminal.output.write(findingLine(finding, paint));
        };
        for (const [check, run] of Object.entries(checks)) {
          report({ check, ...(await runCheck(run, { ...context, count: count === true })) });
        }
        if (pushService !== undefined) {
          const { signal, stop } = abortOnInterrupt();
          const deps = { ...context, pushService, random: randomBytes, signal };
          await checkDelivery(deps, report).finally(stop);
        }
        if (file !== undefined) {
          const region = context.aws && (await context.dynamo.config.region());
          const written = runReport({ startedAt, region, pushService, findings }, new Date());
          await writeCompleteFile(file, of(`${JSON.stringify(written, null, 2)}\n`));
        }
        print(findings, '');
        const problems = findings.filter(({ level }) => level === 'problem').length;
        if (problems > 0) {
          throw new CommandError('problems_found', `Problems: ${problems}.`);
        }
      }),
    );
}

/** A million sends to one user id each, by AWS's list prices for us-east-1 (2025): docs/performance.md adds them up. */
export const dollarsPerMillionSends = 16.15;

interface Run {
  readonly startedAt: Date;
  /** Where the stack is. Undefined for a local one. */
  readonly region: string | undefined;
  /** Address of the push service's WebSocket. Undefined if nothing was sent. */
  readonly pushService: string | undefined;
  readonly findings: readonly NamedFinding[];
}

/**
 * What a run of `doctor` has measured, to be published. It has neither messages nor names: those of projects, members and
 * resources are the operator's.
 */
export function runReport({ startedAt, region, pushService, findings }: Run, now: Date) {
  return {
    carillon: packageJson.version,
    node: process.versions.node,
    startedAt: startedAt.toISOString(),
    seconds: (now.getTime() - startedAt.getTime()) / 1000,
    region: region ?? 'local',
    pushService: pushService === undefined ? null : new URL(pushService).host,
    checks: findings.map(({ check, level, milliseconds }) => ({ check, level, milliseconds })),
    ...(pushService !== undefined && {
      calculated: {
        dollarsPerSend: dollarsPerMillionSends / 1e6,
        from: 'list prices of us-east-1 in 2025, docs/performance.md',
      },
    }),
  };
}

async function* of(text: string) {
  yield text;
}

function readAddress(text: string): string {
  if (URL.canParse(text) && /^wss?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError(
    'Use the address of a WebSocket, such as wss://push.services.mozilla.com.',
  );
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Lets a command remove what it has made when it is interrupted. The second interruption ends it at once.
 * @returns `stop`, after which an interruption ends the command at once again.
 */
export function abortOnInterrupt(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const abort = () => {
    stop();
    controller.abort();
  };
  const stop = () => {
    for (const name of signals) process.off(name, abort);
  };
  for (const name of signals) process.once(name, abort);
  return { signal: controller.signal, stop };
}
