/**
 * System colours follow the page's `color-scheme`, and forced colours. Live regions are always in the
 * layout, because screen readers announce changes only of elements that are displayed: they look like a
 * box once they have contents. The prompt is above the bell.
 */
export const style = `
:host{color:var(--carillon-color,CanvasText);font:var(--carillon-font,1rem/1.4 system-ui,sans-serif);--background:var(--carillon-background,Canvas)}
:host([hidden]){display:none}
:host(.floating){position:fixed;inset-block-end:max(1rem,env(safe-area-inset-bottom));inset-inline-end:1rem;z-index:2147483647;max-width:min(20rem,100vw - 2rem);display:flex;flex-direction:column-reverse;align-items:end;pointer-events:none}
p,section,button,details{pointer-events:auto}
p{margin:0}
details:not([hidden]),[role=status]:not(:empty),section:not(:empty){margin-block:.5rem;padding:1rem;border:1px solid;border-radius:.5rem;background:var(--background)}
:host(.floating) section:not(:empty){margin-block-end:4rem}
button{font:inherit;min-width:max(44px,2.75rem);min-height:max(44px,2.75rem);padding:.5rem;border:1px solid;border-radius:9rem;color:inherit;background:var(--background);cursor:pointer}
section button{margin:1rem .5rem 0 0;padding-inline:1rem}
summary{padding-block:.75rem;cursor:pointer}
label{display:flex;align-items:center;gap:.5rem;min-height:44px;cursor:pointer}
input{width:1.5rem;height:1.5rem}
button:focus-visible{outline:3px solid var(--carillon-color,CanvasText);outline-offset:2px;box-shadow:0 0 0 7px var(--background)}
svg{display:block;margin:auto;width:1.5rem;fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
[aria-pressed=true] svg{fill:currentColor}
@media (prefers-reduced-motion:no-preference){:not(:empty){animation:appear .2s}}
@keyframes appear{from{opacity:0}}
`;
