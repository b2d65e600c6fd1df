import { Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useSession } from '../session.ts';

interface ViewProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Whether a view was shown before: the first one leaves the focus at the start of the document. */
let hasShownView = false;

/** A view: its heading gets the focus when the view is opened, so that a screen reader reads it. */
export function View({ title, actions, children }: ViewProps) {
  const { projectId } = useSession();
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
    document.title = [title, projectId, 'Carillon console'].join(' · ');
  }, [title, projectId]);
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Title order={1} size="h2" ref={heading} tabIndex={-1} className="heading">
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Stack>
  );
}
