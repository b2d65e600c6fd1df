/**
 * Of the bell and its panel. The floating panel is above the bell, another one below it. Borders draw the switch,
 * because forced colours leave them.
 */
export const panelStyle = `
:host{position:relative!important;width:max-content!important}
:host(.floating){display:flex!important;flex-direction:column-reverse!important;align-items:end!important}
#panel{width:max-content;max-width:min(20em,100vw - 2em);padding:.5em 1em;border:1px solid;border-radius:.5em;background:var(--background)}
:host(.floating) #panel{margin-block-end:.5em;max-height:calc(100vh - 6em);overflow:auto}
:host(:not(.floating)) #panel{position:absolute;inset-block-start:calc(100% + .5em);inset-inline-start:0;z-index:2147483647}
#panel:focus-visible{outline-width:1px;box-shadow:none}
header,label{display:flex;align-items:center;gap:.5em}
header{justify-content:space-between}
header label{flex-wrap:wrap}
header button{border-color:transparent;margin-inline-end:-.5em}
label{min-width:0;min-height:44px;cursor:pointer;overflow-wrap:break-word}
fieldset{margin:0;padding:.25em 0 0;border:0;border-block-start:1px solid}
fieldset:disabled label{cursor:default;opacity:.65}
legend{float:inline-start;width:100%;padding:.5em 0 0;font-weight:600}
legend+label{clear:both}
input{flex:none;margin:0;width:1.5em;height:1.5em;color:inherit;accent-color:currentColor;font:inherit}
[role=switch]{appearance:none;width:3em;height:1.75em;border:2px solid;border-radius:1em;display:flex;align-items:center;padding:.125em;cursor:pointer}
[role=switch]::before{content:"";border:.6em solid;border-radius:50%}
[role=switch]:checked{justify-content:end;background:currentColor}
[role=switch]:checked::before{border-color:var(--background)}
#status:not(:empty){padding-block:.5em}
svg{display:block;margin:auto;width:1.5em;fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.on svg{fill:currentColor}
`;
