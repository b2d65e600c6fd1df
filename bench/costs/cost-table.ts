import type { Cost } from './cost-model.ts';

/** The table of costs, in Markdown. */
export function costTable(rows: readonly Cost[]): string {
  const lines = rows.map(({ what, ...parts }) => {
    const total = Object.values(parts).reduce((sum, part) => sum + part, 0);
    const { api, lambda, dynamodb, logs, transfer } = parts;
    const cells = [api, lambda, dynamodb, logs, transfer, total].map(dollars);
    cells.push(`**${cells.pop()}**`);
    return `| ${sentence(what)} | ${cells.join(' | ')} |`;
  });
  return [
    '| Dollars for | API Gateway | Lambda | DynamoDB | CloudWatch | Transfer | Total |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** Whole cents from a dollar on, else two significant digits; less than a hundredth of a cent is 0. */
function dollars(amount: number): string {
  if (amount >= 1) return amount.toFixed(2);
  return amount < 0.0001 ? '0' : amount.toFixed(1 - Math.floor(Math.log10(amount)));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
