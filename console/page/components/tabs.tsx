import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

interface TabsProps<Name extends string> {
  /** What the tabs choose. */
  readonly label: string;
  /** The text of each tab. */
  readonly tabs: Readonly<Record<Name, string>>;
  readonly children: (selected: Name) => ComponentChildren;
}

/** Tabs as the ARIA Authoring Practices describe them: arrow keys, Home and End select one. */
export function Tabs<Name extends string>({ label, tabs, children }: TabsProps<Name>) {
  const names = Object.keys(tabs) as Name[];
  const [selected, select] = useState<Name>(names[0]!);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  function onKeyDown(event: KeyboardEvent) {
    const index = nextTab(event.key, names.indexOf(selected), names.length);
    if (index === undefined) return;
    event.preventDefault();
    select(names[index]!);
    (list.current!.children[index] as HTMLElement).focus();
  }

  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => select(name)}
          >
            {tabs[name]}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it. */}
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} tabIndex={0}>
        {children(selected)}
      </div>
    </div>
  );
}

/** @returns the index of the tab that the key selects, of `count` tabs. */
export function nextTab(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index - 1 + count) % count;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}
