import { Button, CopyButton } from '@mantine/core';

/** Copies a text, and says so. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="default" size="compact-sm" onClick={copy}>
          <span aria-live="polite">{copied ? 'Copied' : label}</span>
        </Button>
      )}
    </CopyButton>
  );
}
