import { readFileSync } from 'node:fs';
import { failureFacts, failureReasonNames } from '../../contract/wire/counts.ts';
import type { OutcomeWord } from '../../contract/wording/delivery-verdict.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const runbookUrl = 'https://git.example/carillon/docs/runbook.md';
const { resources } = synthesize({ runbookUrl });
const runbook = readFileSync('docs/runbook.md', 'utf8');

const alarms = [
  ...Object.entries(resources('AWS::CloudWatch::Alarm')),
  ...Object.entries(resources('AWS::CloudWatch::CompositeAlarm')),
].map(([logicalId, { Properties }]) => ({
  logicalId,
  description: Properties.AlarmDescription as string,
}));

/** Sections by the anchor of their heading. */
const sections = new Map(
  runbook
    .split(/^##? /m)
    .slice(1)
    .map((section) => [anchorOf(section.split('\n', 1)[0]!), section]),
);

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

function sectionOf(description: string): string | undefined {
  // A mail program makes a link of an address up to a space.
  const [address, anchor] = description.split(' ').at(-1)!.split('#');
  return address === runbookUrl ? sections.get(anchor ?? '') : undefined;
}

const queries = Object.values(resources('AWS::Logs::QueryDefinition')).map(
  ({ Properties }) => (Properties.Name as string).split('/')[1]!,
);

test.each(alarms)('the description of $logicalId links to its section', ({ description }) => {
  expect(sectionOf(description)).toBeDefined();
});

test.each(alarms)(
  'the section of $logicalId has every part, and a query of the stack',
  ({ description }) => {
    const section = sectionOf(description)!;
    const parts = [...section.matchAll(/^\*\*(.+?)\.\*\*/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Meaning', 'Lost', 'Query', 'Do']);
    const [, named = ''] = /^\*\*Query\.\*\*(.+?)^\*\*/ms.exec(section)!;
    expect(queries.some((query) => named.includes(`\`${query}\``))).toBe(true);
  },
);

test.each(alarms)('$logicalId is described where people get up, or not', ({ description }) => {
  const part = runbook
    .split(/^# /m)
    .find((one) => one.includes(`## ${sectionOf(description)!.split('\n', 1)[0]}\n`))!;
  const severity = part.startsWith('Alarms: get up\n') ? 'page' : 'warning';
  expect(description).toContain(` Severity: ${severity}. `);
});

test('without the address of the runbook, an alarm names the file', () => {
  const { template } = synthesize();
  const alarm = template.findResources('AWS::CloudWatch::CompositeAlarm');
  const [{ Properties }] = Object.values(alarm) as [{ Properties: { AlarmDescription: string } }];
  expect(Properties.AlarmDescription).toMatch(/Runbook: docs\/runbook\.md#usersaffected$/);
});

test('no section describes an alarm that does not exist', () => {
  const described = [...sections.values()].filter((section) => section.includes('**Meaning.**'));
  const ofAlarms = new Set(alarms.map(({ description }) => sectionOf(description)));
  expect(new Set(described)).toEqual(ofAlarms);
});

test.each(queries)('the runbook uses the query %s', (query) => {
  expect(runbook.replace(/\s+/g, ' ')).toContain(`\`${query}\``);
});

/** Those with which a send ends. */
const outcomes: Readonly<Record<Exclude<OutcomeWord, 'Sending' | 'Stopping'>, true>> = {
  ...{ Interrupted: true, Stopped: true, 'No recipients': true, Failed: true },
  ...{ 'Mostly failed': true, 'Partly delivered': true, Sent: true },
};

test.each(Object.keys(outcomes))('"Nothing arrives" has a row for the outcome %s', (outcome) => {
  const rows = sections.get('nothing-arrives')!.match(/^ +\| [^|]+/gm) ?? [];
  expect(rows.flatMap((row) => row.replace('|', '').trim().split(', '))).toContain(outcome);
});

test.each(failureReasonNames.filter((reason) => failureFacts(reason).cause === 'owner'))(
  '"Pushes of one project fail" says what its owner does about %s',
  (reason) => {
    expect(sections.get('pushes-of-one-project-fail')).toContain(`| \`${reason}\` |`);
  },
);

test.each(['leaked-secret-key', 'leaked-vapid-key', 'push-service-down'])(
  'the runbook has a section %s',
  (anchor) => {
    expect(sections.has(anchor)).toBe(true);
  },
);
