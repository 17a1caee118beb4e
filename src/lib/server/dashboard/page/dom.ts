/** Makes elements. Text goes in as text: there is no way from a string to markup here. */

export type Child = Node | string | undefined;

/** Attributes by their names; true is one without a value, false and undefined are none. Functions listen: `onclick`. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: Event) => void)>
>;

export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  assign(element, attributes);
  element.append(...present(children));
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  assign(element, attributes);
  element.append(...present(children));
  return element;
}

/** A button that does `act`, and cannot be pressed again until that is done. */
export function button(label: string, act: () => unknown, attributes: Attributes = {}) {
  const element = el('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', async () => {
    if (element.ariaBusy === 'true') return;
    element.ariaBusy = 'true';
    try {
      await act();
    } finally {
      element.ariaBusy = null;
    }
  });
  return element;
}

/** A control with its label above it. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  const id = control.id || freshId();
  control.id = id;
  const said = hint === undefined ? undefined : el('small', { id: `${id}-hint` }, hint);
  if (said !== undefined) control.setAttribute('aria-describedby', said.id);
  return el('div', { class: 'field' }, el('label', { for: id }, label), control, said);
}

let ids = 0;

/** An id that no other element has. */
export function freshId(): string {
  ids++;
  return `e${ids}`;
}

function assign(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== undefined);
}
