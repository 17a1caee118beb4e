/** `sbx top`: all sandboxes with what they use, and of the chosen one its sessions, its ports and a screen. Pure. */
import { Box } from 'ink';
import type { ReactElement } from 'react';
import type { SessionInfo } from '../../backend/contract.ts';
import { formatSize } from '../../util/size.ts';
import { paint } from '../color.ts';
import { STATE_STYLES } from '../sandbox-view.ts';
import type { Column } from '../table.ts';
import { truncate, visible } from '../text.ts';
import type { FleetBox } from './fleet-model.ts';
import { Frame, HelpLines, keyLine, Lines, line, PreviewPane, Rule, tableLines } from './parts.tsx';
import type { Screen, Surroundings } from './screen.ts';
import { sparkline } from './sparkline.ts';
import {
  chosenBox,
  initialTop,
  reduceTop,
  shownBoxes,
  shownSession,
  type TopEffect,
  type TopEvent,
  type TopState,
} from './top-model.ts';

const KEYS = [
  ['Enter', 'shell'],
  ['Tab', 'session'],
  ['/', 'filter'],
  ['?', 'help'],
  ['q', 'quit'],
] as const;

const HELP = [
  ['Up Down j k Ctrl-P Ctrl-N', 'choose a sandbox'],
  ['Enter', 'attach to the session shown; leaving it comes back here'],
  ['Tab Shift-Tab', 'show another session of it'],
  ['/', 'show only those with these words; Esc shows all'],
  ['q Ctrl-C', 'quit'],
] as const;

/** The session whose screen is shown. */
export interface TopTarget {
  readonly box: FleetBox;
  readonly session: SessionInfo;
}

/** The screen of all sandboxes. */
export const topScreen: Screen<TopState, TopEvent, TopEffect, TopTarget> = {
  initial: initialTop,
  reduce: reduceTop,
  view: topView,
  target(state) {
    const box = chosenBox(state);
    const session = shownSession(state);
    return box === undefined || session === undefined ? undefined : { box, session };
  },
};

function topView(state: TopState, surroundings: Surroundings): ReactElement {
  const { size } = surroundings;
  const boxes = state.fleet.boxes ?? [];
  const running = boxes.filter(({ info }) => info.state === 'running').length;
  return (
    <Frame
      size={size}
      title="sandboxes"
      facts={state.fleet.boxes === undefined ? '' : `${running} running, ${boxes.length} in all`}
      foot={footOf(state, size.cols)}
    >
      {state.mode === 'help' ? <HelpLines keys={HELP} /> : <Body state={state} surroundings={surroundings} />}
    </Frame>
  );
}

interface BodyProps {
  readonly state: TopState;
  readonly surroundings: Surroundings;
}

/** The table; below it, where there is room, what the chosen one has and shows. */
function Body({ state, surroundings }: BodyProps): ReactElement {
  const { cols, rows: all } = surroundings.size;
  const rows = all - 2;
  const box = chosenBox(state);
  if (box === undefined || rows < 14) return <Lines lines={fleetLines(state, surroundings, rows)} />;
  const failures = Object.keys(state.fleet.failures).length;
  const top = Math.min(Math.max(5, Math.floor(rows * 0.4)), shownBoxes(state).length + failures + 1);
  const below = rows - top - 1;
  const left = cols >= 72 ? Math.min(34, Math.floor(cols * 0.34)) : 0;
  const session = shownSession(state);
  const title = session === undefined ? '' : `${box.info.name} ${session.name}`;
  const pane = { cols: left === 0 ? cols : cols - left - 3, rows: below };
  return (
    <Box flexDirection="column">
      <Box height={top + 1}>
        <Lines lines={fleetLines(state, surroundings, top)} />
      </Box>
      <Box>
        {left === 0 ? null : (
          <>
            <Box width={left} flexShrink={0}>
              <Lines lines={detailLines(box, session?.name, left, below)} />
            </Box>
            <Rule rows={below} />
          </>
        )}
        {session === undefined ? (
          <Lines lines={left === 0 ? detailLines(box, undefined, cols, below) : [noScreen(box, pane.cols)]} />
        ) : (
          <PreviewPane size={pane} title={title} surroundings={surroundings} />
        )}
      </Box>
    </Box>
  );
}

function noScreen({ info, sessions }: FleetBox, cols: number): string {
  if (info.state !== 'running') return line(`it is ${info.state}`, cols, 'dim');
  return line(sessions === undefined ? '' : 'no session runs; Enter starts one', cols, 'dim');
}

function fleetLines(state: TopState, { size, now }: Surroundings, rows: number): readonly string[] {
  const { cols } = size;
  const failures = Object.entries(state.fleet.failures).map(([backend, why]) =>
    line(`${backend}: ${why}`, cols, 'red'),
  );
  const shown = shownBoxes(state);
  if (shown.length === 0) return [...failures, line(emptyText(state), cols, 'dim')];
  const box = chosenBox(state);
  const at = box === undefined ? -1 : shown.indexOf(box);
  const columns = columnsFor(cols, new Set(shown.map(({ info }) => info.backend)).size > 1);
  return [...failures, ...tableLines(shown, columns, { cols, rows: rows - failures.length, at, now })];
}

function emptyText({ fleet }: TopState): string {
  if (fleet.boxes === undefined) return 'asking…';
  return fleet.boxes.length === 0
    ? 'no sandboxes; make one: sbx create'
    : 'none has these words; Esc shows all';
}

/** What a whole bar stands for: one CPU, or the limit of the memory. */
const ONE_CPU = 100;

/** What fits, the more important first. An error takes the place of what it kept from being known. */
function columnsFor(cols: number, backends: boolean): readonly Column<FleetBox>[] {
  const bars = cols >= 100 ? 20 : cols >= 72 ? 8 : 0;
  const state: Column<FleetBox> = {
    header: 'STATE',
    value: ({ info, errors }) =>
      info.state === 'running' ? (errors.stats ?? errors.look ?? info.state) : info.state,
    style: ({ info, errors }) => ((errors.stats ?? errors.look) ? 'red' : STATE_STYLES[info.state]),
  };
  const used = (header: string, value: (box: FleetBox) => string | undefined): Column<FleetBox> => ({
    header,
    align: 'right',
    value,
  });
  const history = (header: string, value: (box: FleetBox) => string): readonly Column<FleetBox>[] =>
    bars === 0 ? [] : [{ header, value, whole: true, style: () => 'cyan' }];
  return [
    { header: 'NAME', value: ({ info }) => info.name },
    ...(backends ? [{ header: 'BACKEND', value: ({ info }: FleetBox) => info.backend }] : []),
    state,
    used('CPU', ({ stats }) =>
      stats?.cpuPercent === undefined ? undefined : `${stats.cpuPercent.toFixed(1)}%`,
    ),
    ...history('', ({ cpu }) => sparkline(cpu, bars, ONE_CPU)),
    used('MEMORY', ({ stats }) => (stats?.memory === undefined ? undefined : formatSize(stats.memory))),
    ...history('', ({ memory, stats }) => sparkline(memory, bars, stats?.memoryLimit ?? 0)),
    ...(cols >= 60
      ? [
          used('SESSIONS', ({ sessions }) =>
            sessions?.filter((each) => each.state === 'running').length.toString(),
          ),
          {
            header: 'PORTS',
            value: portsText,
          },
        ]
      : []),
  ];
}

function portsText({ ports }: FleetBox): string | undefined {
  return ports === undefined ? undefined : [...new Set(ports.map(({ port }) => port))].join(',');
}

function detailLines(
  box: FleetBox,
  shown: string | undefined,
  cols: number,
  rows: number,
): readonly string[] {
  const lines: string[] = [];
  const heading = (text: string) => lines.push(line(text, cols, 'bold'));
  heading('SESSIONS');
  if (box.sessions === undefined) lines.push(line(unknownText(box), cols, 'dim'));
  const running = box.sessions?.filter(({ state }) => state === 'running');
  for (const { name, command = '' } of running ?? [])
    lines.push(line(` ${name}  ${command}`, cols, name === shown ? 'cyan' : undefined));
  if (running?.length === 0) lines.push(line(' none', cols, 'dim'));
  heading('PORTS');
  if (box.ports === undefined) lines.push(line(unknownText(box), cols, 'dim'));
  for (const { port, process } of box.ports ?? []) lines.push(line(` ${port}  ${process ?? ''}`, cols));
  if (box.ports?.length === 0) lines.push(line(' none', cols, 'dim'));
  return lines.slice(0, rows);
}

function unknownText({ info, errors }: FleetBox): string {
  if (info.state !== 'running') return ' -';
  return errors.look === undefined ? ' not known' : ` ${errors.look}`;
}

function footOf({ mode, filter, notice }: TopState, cols: number): string {
  if (mode === 'help') return ' any key goes back';
  if (mode === 'filter')
    return ` ${paint('filter:', 'bold', true)} ${truncate(visible(filter), Math.max(1, cols - 12))}▏`;
  if (notice !== undefined) return line(` ${notice.text}`, cols, notice.failed ? 'red' : 'green');
  return filter === '' ? keyLine(KEYS, cols) : line(` filter: ${filter}  (Esc shows all)`, cols, 'cyan');
}
