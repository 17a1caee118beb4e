/** `ls`, `stats` and `ports` with `--watch` on a terminal. */
import type { Call, ListeningPort, Sandbox, SandboxInfo } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import { createPoller } from '../../ops/live/poller.ts';
import { type FleetEvent, type WatchOptions, watchLists } from '../../ops/live/watch-fleet.ts';
import { statsSampler } from '../../ops/stats.ts';
import { portsView } from '../../ui/ports-view.ts';
import { sandboxView } from '../../ui/sandbox-view.ts';
import { visible } from '../../ui/text.ts';
import { type MeasuredRow, measured, statsColumns } from '../../ui/tui/stats-columns.ts';
import type { TableLook, TableNews, TableNote } from '../../ui/tui/table-screen.tsx';
import type { Context } from '../context.ts';
import { loadScreens, messageOf, screenHost } from './run.ts';

type Feed<Row> = (send: (news: TableNews<Row>) => void, signal: AbortSignal) => Promise<void>;

async function showTable<Row>(context: Context, look: TableLook<Row>, feed: Feed<Row>): Promise<void> {
  const runScreen = await loadScreens();
  const { tableScreen } = await import('../../ui/tui/table-screen.tsx');
  await runScreen({
    ...screenHost(context),
    screen: tableScreen(look),
    feed,
    async perform(_quit, { quit }) {
      quit();
    },
  });
}

/** The sandboxes of all backends; one that does not answer is a line below them. */
export async function showList(context: Context, options: WatchOptions, wide: boolean): Promise<void> {
  const backends = await context.backends();
  const look: TableLook<SandboxInfo> = {
    title: 'sandboxes',
    empty: options.all ? 'no sandboxes; make one: sbx create' : 'no sandbox runs; --all shows the others',
    wide,
    columns: () => sandboxView.columns,
  };
  await showTable(context, look, async (send, signal) => {
    const lists = new Map<string, readonly SandboxInfo[]>();
    const notes = new Map<string, TableNote>();
    const tell = (event: FleetEvent) => {
      if (event.type === 'listed') {
        lists.set(event.backend, event.sandboxes);
        notes.delete(event.backend);
      } else if (event.type === 'unlisted') {
        const text = `backend '${event.backend}' is missing from the list: ${event.error.message}`;
        notes.set(event.backend, { text, style: 'yellow' });
      }
      const rows = [...lists.values()].flat().sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
      send({ type: 'table', rows, notes: [...notes.values()] });
    };
    await watchLists(backends, options, tell, { signal });
  });
}

/** What one sandbox listens on. */
export async function showPorts(
  context: Context,
  sandbox: Sandbox,
  { intervalMs, wide }: { readonly intervalMs: number; readonly wide: boolean },
): Promise<void> {
  const { having } = await context.backends();
  const ports = need(sandbox, 'ports', having);
  const look: TableLook<ListeningPort> = {
    title: `ports of ${sandbox.name}`,
    empty: 'nothing listens',
    wide,
    columns: () => portsView.columns,
  };
  await showTable(context, look, async (send, signal) => {
    let rows: readonly ListeningPort[] = [];
    const ask = async (call: Call) => {
      const notes: TableNote[] = [];
      try {
        rows = await ports.list(call);
      } catch (error) {
        if (call.signal.aborted) return;
        notes.push({ text: messageOf(error), style: 'red' });
      }
      send({ type: 'table', rows, notes });
    };
    const poller = createPoller({ most: 1, patienceMs: intervalMs }, { signal });
    poller.set(new Map([[sandbox.name, { everyMs: () => intervalMs, ask }]]));
    await poller.done;
  });
}

/** What sandboxes use, with the last minutes of it; one that cannot be measured says so, and is asked again. */
export async function showStats(
  context: Context,
  sandboxes: readonly Sandbox[],
  { intervalMs, wide }: { readonly intervalMs: number; readonly wide: boolean },
): Promise<void> {
  const { having } = await context.backends();
  for (const sandbox of sandboxes) need(sandbox, 'stats', having);
  const look: TableLook<MeasuredRow> = {
    title: 'what sandboxes use',
    empty: 'nothing could be measured',
    wide,
    columns: statsColumns,
  };
  await showTable(context, look, async (send, signal) => {
    const rows = new Map<string, MeasuredRow>();
    const notes = new Map<string, TableNote>();
    const poller = createPoller({ most: 4, patienceMs: 1000 }, { signal });
    const jobFor = (sandbox: Sandbox) => {
      const sampler = statsSampler(having);
      const key = keyOf(sandbox);
      return {
        everyMs: () => intervalMs,
        async ask(call: Call) {
          try {
            rows.set(key, measured(rows.get(key), await sampler(sandbox, call)));
            notes.delete(key);
          } catch (error) {
            if (call.signal.aborted) return;
            if (!(error instanceof SbxError)) throw error;
            rows.delete(key);
            notes.set(key, { text: `${visible(sandbox.name)}: ${error.message}`, style: 'red' });
          }
          const ordered = sandboxes.flatMap((each) => rows.get(keyOf(each)) ?? []);
          send({ type: 'table', rows: ordered, notes: [...notes.values()] });
        },
      };
    };
    poller.set(new Map(sandboxes.map((sandbox) => [keyOf(sandbox), jobFor(sandbox)])));
    await poller.done;
  });
}

function keyOf({ backend, name }: { readonly backend: string; readonly name: string }): string {
  return `${backend}/${name}`;
}
