export { type BellOptions, showBell } from './show-bell.ts';
export { type PromptOptions, showPrompt } from './show-prompt.ts';
export type { BellTexts } from './texts.ts';
