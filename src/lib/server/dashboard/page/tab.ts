/** What stands in a tab. */
import type { Box } from './fleet.ts';

export interface Tab {
  readonly element: HTMLElement;
  update(box: Box): void;
  /** Ends what it follows. */
  close(): void;
}
