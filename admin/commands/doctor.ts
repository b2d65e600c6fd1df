import { Command } from 'commander';
import { checks, runCheck } from '../doctor/checks.ts';
import type { Finding, Level } from '../doctor/finding.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { type Paint, paintFor } from '../terminal/terminal.ts';
import { CommandError, type RunOnStack } from './command.ts';

export function doctorCommand(runOnStack: RunOnStack): Command {
  const command = new Command('doctor')
    .description('Checks the deployment, with one push to an endpoint that does not exist.')
    .action(() =>
      runOnStack(async (context) => {
        const findings: (Finding & { readonly check: string })[] = [];
        for (const [check, run] of Object.entries(checks)) {
          findings.push({ check, ...(await runCheck(run, context)) });
        }
        const paint = paintFor(context.terminal.output);
        context.print(findings, findings.map((finding) => line(finding, paint)).join(''));
        const problems = findings.filter(({ level }) => level === 'problem').length;
        if (problems > 0) {
          throw new CommandError('problems_found', `Problems: ${problems}.`);
        }
      }),
    );
  return withExamples(command, '', '--stack Carillon-dev --json');
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;

function line(
  { check, level, message }: { check: string; level: Level; message: string },
  paint: Paint,
): string {
  return `${paint(colours[level], level.padEnd(7))}  ${check.padEnd(13)}  ${printable(message)}\n`;
}
