/** How sessions are shown. */
import type { SessionInfo } from '../backend/contract.ts';
import { ageOf } from '../util/duration.ts';
import type { View } from './output.ts';

export const sessionView: View<SessionInfo> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    {
      header: 'STATE',
      value: shownState,
      style: ({ state }) => (state === 'running' ? 'green' : undefined),
    },
    {
      header: 'ATTACHED',
      value: ({ attached }) => (attached === undefined ? undefined : attached ? 'yes' : 'no'),
    },
    { header: 'AGE', value: ({ createdAt }, now) => ageOf(createdAt, now) },
    { header: 'COMMAND', value: ({ command }) => command },
    { header: 'CWD', value: ({ workdir }) => workdir },
    { header: 'SIZE', value: ({ size }) => (size === undefined ? undefined : `${size.cols}x${size.rows}`) },
    { header: 'PID', value: ({ pid }) => pid?.toString(), wide: true },
    { header: 'RECORDING', value: ({ recording }) => recording, wide: true },
  ],
};

function shownState({ state, exit }: SessionInfo): string {
  if (exit === undefined) return state;
  return `${state} (${'code' in exit ? exit.code : exit.signal})`;
}

/** A program in a sandbox, and what was done to have it there. */
export interface ToolRow {
  readonly tool: string;
  readonly sandbox: string;
  readonly done: string;
}

export const toolView: View<ToolRow> = {
  name: ({ tool }) => tool,
  columns: [
    { header: 'TOOL', value: ({ tool }) => tool },
    { header: 'SANDBOX', value: ({ sandbox }) => sandbox },
    { header: 'DONE', value: ({ done }) => done },
  ],
};
