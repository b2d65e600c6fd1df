import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { checks, runCheck } from '../doctor/checks.ts';
import { checkDelivery, type StepFinding } from '../doctor/delivery.ts';
import type { Finding } from '../doctor/finding.ts';
import { withExamples } from '../terminal/command-line.ts';
import { abortOnInterrupt } from '../terminal/interrupt.ts';
import { printable } from '../terminal/printable.ts';
import { type Paint, paintFor } from '../terminal/terminal.ts';
import { CommandError, type RunOnStack } from './command.ts';

interface Options {
  readonly deliver?: true;
  readonly via?: string;
}

type NamedFinding = Finding & Pick<StepFinding, 'check'> & Partial<StepFinding>;

export function doctorCommand(runOnStack: RunOnStack): Command {
  const command = new Command('doctor')
    .description('Checks the deployment.')
    .option(
      '--deliver',
      'also send notifications through a push service, and receive, decrypt and report them',
    )
    .addOption(
      new Option('--via <address>', 'WebSocket of the push service (default: Mozilla’s)')
        .argParser(readAddress)
        .implies({ deliver: true }),
    )
    .action(({ deliver, via }: Options) =>
      runOnStack(async (context) => {
        const { terminal, isJson, print } = context;
        const paint = paintFor(terminal.output);
        const findings: NamedFinding[] = [];
        const report = (finding: NamedFinding) => {
          findings.push(finding);
          if (!isJson) terminal.output.write(line(finding, paint));
        };
        for (const [check, run] of Object.entries(checks)) {
          report({ check, ...(await runCheck(run, context)) });
        }
        if (deliver) {
          const { signal, stop } = abortOnInterrupt();
          const { pushService } = context;
          const deps = { ...context, pushService: via ?? pushService, random: randomBytes, signal };
          await checkDelivery(deps, report).finally(stop);
        }
        print(findings, '');
        const problems = findings.filter(({ level }) => level === 'problem').length;
        if (problems > 0) {
          throw new CommandError('problems_found', `Problems: ${problems}.`);
        }
      }),
    );
  return withExamples(command, '', '--deliver', '--stack Carillon-dev --json');
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;

function line({ check, level, message, milliseconds }: NamedFinding, paint: Paint): string {
  const time = milliseconds === undefined ? '' : paint('dim', ` (${milliseconds} ms)`);
  return `${paint(colours[level], level.padEnd(7))}  ${check.padEnd(13)}  ${printable(message)}${time}\n`;
}

function readAddress(text: string): string {
  if (URL.canParse(text) && /^wss?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError(
    'Use the address of a WebSocket, such as wss://push.services.mozilla.com.',
  );
}
