import type { Layout } from './layout.ts';

/** What every part of the local backend is given. */
export interface Local {
  /** The configured name of the backend. */
  readonly name: string;
  readonly layout: Layout;
  /** Tells the user one line. */
  readonly notice: (line: string) => void;
}
