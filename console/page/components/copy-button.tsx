import { useState } from 'preact/hooks';

/** Copies a text, and says so. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState<string>();
  const isCopied = copied === text;
  return (
    <button
      type="button"
      class="copy"
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setCopied(text);
      }}
    >
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  );
}
