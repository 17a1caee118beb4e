/** `sbx sessions` on a terminal: the list, and what the chosen session shows. Pure. */
import { Box } from 'ink';
import type { ReactElement } from 'react';
import type { SessionInfo } from '../../backend/contract.ts';
import { ageOf } from '../../util/duration.ts';
import { paint } from '../color.ts';
import type { Column } from '../table.ts';
import { truncate, visible } from '../text.ts';
import { Frame, HelpLines, keyLine, Lines, line, PreviewPane, Rule, tableLines } from './parts.tsx';
import type { Screen, Size, Surroundings } from './screen.ts';
import {
  chosenSession,
  initialSessions,
  reduceSessions,
  type SessionsEffect,
  type SessionsEvent,
  type SessionsState,
  shownSessions,
} from './sessions-model.ts';

const KEYS = [
  ['Enter', 'attach'],
  ['n', 'new'],
  ['r', 'rename'],
  ['k', 'kill'],
  ['/', 'filter'],
  ['?', 'help'],
  ['q', 'quit'],
] as const;

const HELP = [
  ['Up Down Ctrl-P Ctrl-N', 'choose a session'],
  ['Enter', 'attach to it; leaving it comes back here'],
  ['n', 'start a new one'],
  ['r', 'give it another name'],
  ['k', 'end it with all that runs in it'],
  ['/', 'show only those with these words; Esc shows all'],
  ['q Ctrl-C', 'quit'],
] as const;

const COLUMNS: readonly Column<SessionInfo>[] = [
  { header: 'NAME', value: ({ name }) => name },
  {
    header: 'STATE',
    value: ({ state, attached }) => (state === 'ended' ? 'ended' : attached ? 'attached' : 'running'),
    style: ({ state, attached }) => (state === 'ended' ? 'dim' : attached ? 'cyan' : 'green'),
  },
  { header: 'COMMAND', value: ({ command, exit }) => (exit === undefined ? command : exitText(exit)) },
  {
    header: 'AGE',
    align: 'right',
    value: ({ createdAt }, now) => ageOf(createdAt, now),
  },
];

function exitText(exit: NonNullable<SessionInfo['exit']>): string {
  return 'code' in exit ? `exit ${exit.code}` : exit.signal;
}

/** What is shown of the chosen session: its size changes without starting over. */
export type SessionTarget = Pick<SessionInfo, 'name' | 'state' | 'size'>;

/** The screen of one sandbox's sessions. */
export function sessionsScreen(
  sandbox: string,
): Screen<SessionsState, SessionsEvent, SessionsEffect, SessionTarget> {
  return {
    initial: initialSessions(sandbox),
    reduce: reduceSessions,
    view: sessionsView,
    target: chosenSession,
  };
}

function sessionsView(state: SessionsState, surroundings: Surroundings): ReactElement {
  const { size } = surroundings;
  const count = state.sessions?.length ?? 0;
  return (
    <Frame
      size={size}
      title={`sessions of ${state.sandbox}`}
      facts={state.sessions === undefined ? '' : `${count} session${count === 1 ? '' : 's'}`}
      foot={footOf(state, size.cols)}
    >
      {state.mode.kind === 'help' ? (
        <HelpLines keys={HELP} />
      ) : (
        <Body state={state} surroundings={surroundings} />
      )}
    </Frame>
  );
}

interface BodyProps {
  readonly state: SessionsState;
  readonly surroundings: Surroundings;
}

/** Side by side where there is room, else one below the other, else the list alone. */
function Body({ state, surroundings }: BodyProps): ReactElement {
  const { cols, rows: all } = surroundings.size;
  const rows = all - 2;
  const session = chosenSession(state);
  const title = session === undefined ? '' : [session.name, session.workdir].filter(Boolean).join('  ');
  const pane = (size: Size) =>
    session === undefined ? null : <PreviewPane size={size} title={title} surroundings={surroundings} />;
  if (cols >= 72) {
    const left = Math.min(46, Math.floor(cols * 0.42));
    return (
      <Box>
        <Box width={left} flexShrink={0}>
          <Lines lines={listLines(state, surroundings, left, rows)} />
        </Box>
        <Rule rows={rows} />
        {pane({ cols: cols - left - 3, rows })}
      </Box>
    );
  }
  if (rows < 14) return <Lines lines={listLines(state, surroundings, cols, rows)} />;
  const top = Math.min(Math.floor(rows / 2), shownSessions(state).length + 2);
  return (
    <Box flexDirection="column">
      <Box height={top}>
        <Lines lines={listLines(state, surroundings, cols, top - 1)} />
      </Box>
      {pane({ cols, rows: rows - top })}
    </Box>
  );
}

function listLines(
  state: SessionsState,
  { now }: Surroundings,
  cols: number,
  rows: number,
): readonly string[] {
  const errors = state.error === undefined ? [] : [line(state.error, cols, 'red')];
  const shown = shownSessions(state);
  if (shown.length === 0) return [...errors, line(emptyText(state), cols, 'dim')];
  const chosen = chosenSession(state);
  const at = chosen === undefined ? -1 : shown.indexOf(chosen);
  return [...errors, ...tableLines(shown, COLUMNS, { cols, rows: rows - errors.length, at, now })];
}

function emptyText(state: SessionsState): string {
  if (state.sessions === undefined) return state.error === undefined ? 'asking…' : '';
  return state.sessions.length === 0 ? 'no sessions; n starts one' : 'none has these words; Esc shows all';
}

function footOf({ mode, notice, filter }: SessionsState, cols: number): string {
  const asked = (question: string, text: string) =>
    ` ${paint(question, 'bold', true)} ${truncate(visible(text), Math.max(1, cols - question.length - 4))}▏`;
  switch (mode.kind) {
    case 'new':
      return asked('name of the new session:', mode.text);
    case 'rename':
      return asked('new name:', mode.text);
    case 'kill':
      return paint(
        truncate(` end session '${visible(mode.name)}' and all that runs in it? y/N`, cols),
        'yellow',
        true,
      );
    case 'filter':
      return asked('filter:', filter);
    case 'help':
      return ' any key goes back';
    case 'list':
      if (notice !== undefined) return line(` ${notice.text}`, cols, notice.failed ? 'red' : 'green');
      return filter === '' ? keyLine(KEYS, cols) : line(` filter: ${filter}  (Esc shows all)`, cols, 'cyan');
  }
}
