import { style } from './style.ts';

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
  parent: Element | undefined,
  ...children: readonly Element[]
): HTMLElement {
  const host = create('div', parent ? {} : { class: 'floating' });
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style + ownStyle);
  root.adoptedStyleSheets = [sheet];
  root.append(...children);
  (parent ?? document.body).append(host);
  return host;
}
