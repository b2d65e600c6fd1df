/** The API description's markdown within a sentence: code, and links, of which the text is shown. */
export function InlineMarkdown({ text }: { readonly text: string }) {
  const parts = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').split('`');
  return (
    <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  );
}
