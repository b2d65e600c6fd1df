import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface ViewProps {
  readonly title: string;
  /** Of the document, if it is not the view's. */
  readonly documentTitle?: string;
  readonly projectId?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Whether a view was shown before: the first one leaves the focus at the start of the document. */
let hasShownView = false;

/** A view: its heading gets the focus when the view is opened, so that a screen reader reads it. */
export function View({ title, documentTitle = title, projectId, actions, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the person can type or press anything in the view.
  useLayoutEffect(() => {
    if (hasShownView) {
      heading.current!.focus({ preventScroll: true });
      window.scrollTo({ top: 0 });
    }
    hasShownView = true;
  }, []);
  useEffect(() => {
    document.title = [documentTitle, projectId, 'Carillon console'].filter(Boolean).join(' · ');
  }, [documentTitle, projectId]);
  return (
    <>
      <header class="view-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
      </header>
      {children}
    </>
  );
}
