/** Returns the element with this id. */
export function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

/** Returns a copy of the content of the template with this id. */
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
