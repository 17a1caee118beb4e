/** All sandboxes, a card each. */
import type { Info } from './api.ts';
import { type Card, card } from './card.ts';
import { el } from './dom.ts';
import type { Box } from './fleet.ts';

export interface List {
  readonly element: HTMLElement;
  /** The ids of those that can be seen now. */
  readonly inSight: ReadonlySet<string>;
  /** @param chosen the id of the one that is looked at. */
  draw(boxes: ReadonlyMap<string, Box>, chosen: string | undefined): void;
}

/** @param changed called after a change of one. */
export function sandboxList(info: Info, changed: () => Promise<void>): List {
  const place = el('ul', { class: 'cards' });
  const empty = el('p', { class: 'empty' }, 'No sandboxes yet.');
  const cards = new Map<string, Card>();
  const inSight = new Set<string>();
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const { id = '' } = (target as HTMLElement).dataset;
      if (isIntersecting) inSight.add(id);
      else inSight.delete(id);
    }
  });
  const drop = (id: string, { element }: Card) => {
    sight.unobserve(element);
    element.remove();
    cards.delete(id);
    inSight.delete(id);
  };
  const add = (id: string) => {
    const added = card(info, changed);
    cards.set(id, added);
    // The newest first.
    place.prepend(added.element);
    sight.observe(added.element);
    return added;
  };
  return {
    element: el('section', { class: 'list', 'aria-label': 'Sandboxes' }, place, empty),
    inSight,
    draw(boxes, chosen) {
      for (const [id, each] of cards) if (!boxes.has(id)) drop(id, each);
      for (const [id, box] of boxes) (cards.get(id) ?? add(id)).update(box, id === chosen);
      empty.hidden = cards.size > 0;
    },
  };
}
