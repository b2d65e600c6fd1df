/**
 * What all elements of the SDK have in common. Sites style every `div`, so the host takes nothing from the page but its
 * `color-scheme`, which the system colours follow: `!important` in a shadow tree wins over any rule of the page. Sizes
 * are in `em` of the visitor's own text size, because sites change the `rem`.
 */
export const style = `
:host{all:initial!important;color-scheme:inherit!important;display:flow-root!important;color:var(--carillon-color,CanvasText)!important;font:var(--carillon-font,medium/1.4 system-ui,sans-serif)!important;--background:var(--carillon-background,Canvas)}
:host::before,:host::after{content:none!important}
:host([hidden]),[hidden]{display:none!important}
:host(.floating){position:fixed!important;inset-block-end:max(1em,env(safe-area-inset-bottom))!important;inset-inline-end:1em!important;z-index:2147483647!important;max-width:min(20em,100vw - 2em)!important;pointer-events:none!important}
*{box-sizing:border-box;pointer-events:auto}
p{margin:0}
button{font:inherit;min-width:max(44px,2.75em);min-height:max(44px,2.75em);padding:.5em;border:1px solid;border-radius:9em;color:inherit;background:var(--background);cursor:pointer}
:focus-visible{outline:3px solid;outline-offset:2px;box-shadow:0 0 0 7px var(--background)}
@media (prefers-reduced-motion:no-preference){#panel,section{animation:appear .2s}}
@keyframes appear{from{opacity:0}}
`;
