/**
 * xterm.js writes style elements, and style attributes on the spans of a row. The policy of the page forbids both, since that is how
 * markup would bring its own style; the CSSOM, which only scripts reach, is allowed. Here the one becomes the other.
 *
 * Its `documentOverride` would do without changing globals, but is passed over where the scroll bar is made.
 */

let isDone = false;

/** Changes how this page makes elements, for good. */
export function styleThroughCssom(): void {
  if (isDone) return;
  isDone = true;
  const create = document.createElement.bind(document);
  document.createElement = ((name: string) =>
    name === 'style' ? sheetElement(create('span')) : create(name)) as typeof document.createElement;
  const { setAttribute } = HTMLElement.prototype;
  HTMLSpanElement.prototype.setAttribute = function (name, value) {
    if (name === 'style') this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

/** Makes of an element what behaves like a style element: its text is a sheet of the page until it is removed. */
function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  element.hidden = true;
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}
