import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useForm } from './form-context.ts';
import { emptySendForm, type SendForm } from './send-form.ts';

interface OptionGroupProps {
  readonly title: string;
  readonly names: readonly (keyof SendForm)[];
  readonly children: ComponentChildren;
}

/** Optional fields, folded. Says how many are set, and opens when one of them has an issue. */
export function OptionGroup({ title, names, children }: OptionGroupProps) {
  const { form, issues } = useForm();
  const set = names.filter(
    (name) => String(form[name] ?? '') !== String(emptySendForm[name] ?? ''),
  ).length;
  const hasIssue = issues.some(({ path }) => names.some((name) => path.split('.')[0] === name));
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
      {children}
    </details>
  );
}
