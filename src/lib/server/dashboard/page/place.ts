/** Where one is on the page, as the address says it: `#/ID/TAB`, or nothing for the list. */

export const TABS = ['terminal', 'files', 'processes', 'details'] as const;
export type TabName = (typeof TABS)[number];

export interface Place {
  readonly id: string;
  readonly tab: TabName;
}

export function placeOf(hash: string): Place | undefined {
  const [, id = '', name] = /^#\/([^/]+)(?:\/(\w+))?$/.exec(hash) ?? [];
  if (id === '') return undefined;
  try {
    return { id: decodeURIComponent(id), tab: TABS.find((each) => each === name) ?? 'terminal' };
  } catch {
    return undefined;
  }
}

export const hashOf = ({ id, tab }: Place) => `#/${encodeURIComponent(id)}/${tab}`;
