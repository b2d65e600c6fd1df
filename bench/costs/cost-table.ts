import type { Cost } from './cost-model.ts';
import type { SiteCost } from './sites.ts';

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

/** The table of whole sites, in Markdown. */
export function siteTable(rows: readonly SiteCost[]): string {
  const lines = rows.map(({ what, sends, events, standing }) => {
    const total = sends + events + standing;
    const share = `${((100 * events) / total).toFixed(0)} %`;
    const cells = [sends, events, standing].map(dollars);
    return `| ${sentence(what)} | ${cells.join(' | ')} | **${dollars(total)}** | ${share} |`;
  });
  return [
    '| Dollars a month for a site with | Sends | Events | Storage, alarms, metrics | Total | Of which events |',
    '|---|---|---|---|---|---|',
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
