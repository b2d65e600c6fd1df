import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type GroupName, isIn, namesIn } from './fields.ts';
import { useForm } from './form-context.ts';
import { SendField } from './send-field.tsx';
import { emptySendForm } from './send-form.ts';

interface OptionGroupProps {
  readonly title: GroupName;
  /** After its fields. */
  readonly children?: ComponentChildren;
}

/** Optional fields, folded. Says how many are set, and opens when one of them has an issue. */
export function OptionGroup({ title, children }: OptionGroupProps) {
  const { form, issues } = useForm();
  const names = namesIn(title);
  const set = names.filter((name) => String(form[name]) !== String(emptySendForm[name])).length;
  const hasIssue = issues.some(({ path }) => isIn(path, title));
  const details = useRef<HTMLDetailsElement>(null);
  // It stays open when the issue is corrected: the person may still be typing in it.
  useLayoutEffect(() => {
    if (hasIssue) details.current!.open = true;
  }, [hasIssue]);
  return (
    <details class="group" ref={details}>
      <summary>
        {title}
        {set > 0 && <span class="note">{set} set</span>}
      </summary>
      {names.map((name) => (
        <SendField key={name} name={name} />
      ))}
      {children}
    </details>
  );
}
