import type { View } from './output.ts';

/** How being attached to a session was over. */
export interface ShellRow {
  readonly sandbox: string;
  readonly session: string;
  /** `detached`, `taken`, `ended`, `lost`, `interrupted` or `terminal gone`. */
  readonly how: string;
  readonly exitCode: number;
}

export const shellView: View<ShellRow> = {
  name: ({ session }) => session,
  columns: [
    { header: 'SESSION', value: ({ session }) => session },
    { header: 'HOW', value: ({ how }) => how },
    { header: 'EXIT', value: ({ exitCode }) => String(exitCode), align: 'right' },
  ],
};
