import { Option } from 'commander';

export interface DryRunOption {
  readonly dryRun?: true;
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'print what would happen, and change nothing');
}

/** The last line of a result. */
export function dryRunText(dryRun: true | undefined): string {
  return dryRun ? 'This was a dry run: nothing was changed.\n' : '';
}
