/** The part of the page for one sandbox: the one that the address names. */
import type { Info } from './api.ts';
import { type Detail, detail } from './detail.ts';
import { el } from './dom.ts';
import type { Box } from './fleet.ts';
import { type Place, placeOf } from './place.ts';
import { shown } from './text.ts';

export interface Stage {
  readonly element: HTMLElement;
  /** The id of the one that is shown. */
  readonly chosen: string | undefined;
  draw(boxes: ReadonlyMap<string, Box>): void;
}

/** @param changed called after a change of it. */
export function stage(info: Info, changed: () => Promise<void>): Stage {
  const nothing = el('p', { class: 'empty' }, 'Choose a sandbox.');
  const element = el('main', {}, nothing);
  let open: { readonly place: Place; readonly detail: Detail } | undefined;

  const close = () => {
    open?.detail.close();
    open = undefined;
    element.replaceChildren(nothing);
    document.title = 'sbx';
  };
  const show = (place: Place, box: Box) => {
    close();
    open = { place, detail: detail(info, box, place.tab, changed) };
    element.replaceChildren(open.detail.element);
    document.title = `${shown(box.record.name)} · sbx`;
  };
  return {
    element,
    get chosen() {
      return open?.place.id;
    },
    draw(boxes) {
      const place = placeOf(location.hash);
      const box = place === undefined ? undefined : boxes.get(place.id);
      // Narrow pages show the one or the other.
      document.body.dataset.view = box === undefined ? 'list' : 'detail';
      if (place === undefined || box === undefined) {
        if (open !== undefined) close();
      } else if (place.id === open?.place.id && place.tab === open.place.tab) open.detail.update(box);
      else show(place, box);
    },
  };
}
