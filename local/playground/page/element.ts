/** The page's element of that id. */
export function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

/** A copy of what the template of that id holds. */
export function fromTemplate(id: string): HTMLElement {
  const { content } = element<HTMLTemplateElement>(id);
  return content.firstElementChild!.cloneNode(true) as HTMLElement;
}

export function part<Kind extends HTMLElement = HTMLElement>(
  parent: HTMLElement,
  selector: string,
): Kind {
  return parent.querySelector<Kind>(selector)!;
}
