import { Option } from 'commander';
import { settingKinds } from '../../../admin/commands/set.ts';
import type { SettingField } from '../../../contract/wire/project.ts';

/** The value of a setting after `--it <text>`. */
function set(row: SettingField, text: string): unknown {
  const { option, value } = settingKinds[row.kind];
  const made = option((usage) => new Option(`--it <${usage}>`), row as never);
  return value(made.parseArg!(text, undefined), row as never, undefined);
}

const text = { kind: 'text', max: 10 } as const;

test.each<[SettingField, string, string | undefined]>([
  [text, 'some', 'some'],
  [text, 'none', undefined],
  [{ ...text, isRequired: true }, 'none', 'none'],
])('the setting %j is set by %s to %j', (row, given, value) => {
  expect(set(row, given)).toBe(value);
});

test.each<[SettingField, string, string]>([[text, 'longer than ten', 'Use 1 to 10 characters']])(
  'the setting %j cannot be set to %j: %s',
  (row, given, message) => {
    expect(() => set(row, given)).toThrow(message);
  },
);
