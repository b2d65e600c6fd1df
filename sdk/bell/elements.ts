/** A browser may deny storage, have no room, or lack what the elements need. @returns undefined if it throws. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Creates an element. Scripts of sites with strict policies may not set `innerHTML`. */
export function create<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Element | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Adds elements to the page that its styles do not reach.
 * @param ownStyle in addition to the common one.
 * @param parent Default: they float in the corner at the end of the page.
 */
export function attach(
  ownStyle: string,
  parent: Element | null | undefined,
  ...children: readonly Element[]
): HTMLElement {
  const host = create('div', parent ? {} : { class: 'floating', 'data-turbo-temporary': '' });
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style + ownStyle);
  root.adoptedStyleSheets = [sheet];
  root.append(...children);
  // A script in the head may run before there is a body.
  (parent ?? endOfPage()).append(host);
  return host;
}

const endOfPage = () => document.body ?? document.documentElement;

/** What removes the floating elements of each name. A page has one of each. */
const floating = new Map<string, () => void>();

/**
 * Keeps attached elements until they are removed. Those that float stay when Turbo, htmx or Astro replaces the page's
 * body, and take the place of earlier ones of their name: such libraries run scripts again.
 * @param end is called when they are removed.
 * @returns a function that removes them.
 */
export function keepAttached(host: HTMLElement, name: string, end: () => void): () => void {
  const observer = new MutationObserver(keep);
  const remove = () => {
    observer.disconnect();
    host.remove();
    end();
  };
  if (host.className) {
    floating.get(name)?.();
    floating.set(name, remove);
    keep();
  }
  return remove;

  function keep(): void {
    if (!host.isConnected) endOfPage().append(host);
    for (const watched of [document.documentElement, endOfPage()]) {
      observer.observe(watched, { childList: true });
    }
  }
}

const svg = 'http://www.w3.org/2000/svg';

/** An icon of one path, 24 units wide and high, and what changes its path. */
export function createIcon(d: string) {
  const icon = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  const draw = (d: string) => path.setAttribute('d', d);
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.append(path);
  draw(d);
  return { icon, draw };
}

/**
 * What all elements of the SDK have in common. Sites style every `div`, so the host takes nothing from the page but its
 * `color-scheme`, which the system colours follow: `!important` in a shadow tree wins over any rule of the page. Sizes
 * are in `em` of the visitor's own text size, because sites change the `rem`.
 */
const style = `
:host{all:initial!important;color-scheme:inherit!important;display:flow-root!important;color:var(--carillon-color,CanvasText)!important;font:var(--carillon-font,medium/1.4 system-ui,sans-serif)!important;--background:var(--carillon-background,Canvas);--line:1px solid color-mix(in srgb,currentColor 18%,transparent)}
:host::before,:host::after{content:none!important}
:host([hidden]),[hidden]{display:none!important}
:host(.floating){position:fixed!important;inset-block-end:max(1em,env(safe-area-inset-bottom))!important;inset-inline-end:1em!important;z-index:2147483647!important;max-width:min(20em,100vw - 2em)!important;pointer-events:none!important}
*{box-sizing:border-box;pointer-events:auto}
p,a{margin:0;color:inherit}
#panel,section:not(:empty){padding:1em;border:var(--line);border-radius:12px;background:var(--background);box-shadow:0 .5em 2em #0003}
button{font:inherit;min-width:max(44px,2.75em);min-height:max(44px,2.75em);padding:.5em;border:1px solid;border-radius:9em;color:inherit;background:var(--background);cursor:pointer}
:disabled{opacity:.5;cursor:auto}
:focus-visible{outline:3px solid;outline-offset:2px;box-shadow:0 0 0 7px var(--background)}
@media (prefers-reduced-motion:no-preference){#panel,section{animation:appear .2s}}
@keyframes appear{from{opacity:0}}
`;
