/** All sandboxes and what is known of each, as news changes it. Pure, and bounded: what is gone is forgotten. */
import type { ListeningPort, SandboxInfo, SessionInfo } from '../../backend/contract.ts';
import type { FleetEvent } from '../../ops/live/watch-fleet.ts';
import type { StatsRow } from '../../ops/stats.ts';
import { remember } from './sparkline.ts';

/** One sandbox. */
export interface FleetBox {
  readonly key: string;
  readonly info: SandboxInfo;
  readonly stats?: StatsRow | undefined;
  readonly cpu: readonly (number | undefined)[];
  readonly memory: readonly (number | undefined)[];
  readonly sessions?: readonly SessionInfo[] | undefined;
  readonly ports?: readonly ListeningPort[] | undefined;
  /** Why it could not be asked. */
  readonly errors: { readonly stats?: string | undefined; readonly look?: string | undefined };
}

/** Boxes and backends that cannot be listed. */
export interface Fleet {
  /** Undefined until the first backend has answered. The newest first. */
  readonly boxes: readonly FleetBox[] | undefined;
  /** Backend → why it cannot be listed. What was known of it stays. */
  readonly failures: Readonly<Record<string, string>>;
}

export const emptyFleet: Fleet = { boxes: undefined, failures: {} };

/** The fleet after the news. */
export function reduceFleet(fleet: Fleet, event: FleetEvent): Fleet {
  switch (event.type) {
    case 'listed': {
      const { [event.backend]: _answered, ...failures } = fleet.failures;
      const others = (fleet.boxes ?? []).filter(({ info }) => info.backend !== event.backend);
      const before = new Map((fleet.boxes ?? []).map((box) => [box.key, box]));
      const listed = event.sandboxes.map((info) => boxOf(info, before.get(keyOf(info))));
      return { failures, boxes: [...others, ...listed].sort(newestFirst) };
    }
    case 'unlisted':
      return {
        boxes: fleet.boxes ?? [],
        failures: { ...fleet.failures, [event.backend]: event.error.message },
      };
    case 'measured':
      return change(fleet, event.key, (box) => ({
        ...box,
        stats: event.row,
        cpu: remember(box.cpu, event.row.cpuPercent),
        memory: remember(box.memory, event.row.memory),
        errors: { ...box.errors, stats: undefined },
      }));
    case 'looked':
      return change(fleet, event.key, (box) => ({
        ...box,
        ...event.look,
        errors: { ...box.errors, look: undefined },
      }));
    case 'silent':
      return change(fleet, event.key, (box) => ({
        ...box,
        errors: { ...box.errors, [event.on]: event.error.message },
      }));
  }
}

/** The same as the feeds use. */
function keyOf({ backend, id }: SandboxInfo): string {
  return `${backend}/${id}`;
}

function boxOf(info: SandboxInfo, before: FleetBox | undefined): FleetBox {
  const fresh: FleetBox = { key: keyOf(info), info, cpu: [], memory: [], errors: {} };
  if (before === undefined) return fresh;
  // Nobody asks one that does not run: what it used and had is no longer so.
  return info.state === 'running' ? { ...before, info } : fresh;
}

function change(fleet: Fleet, key: string, to: (box: FleetBox) => FleetBox): Fleet {
  const boxes = fleet.boxes?.map((box) => (box.key === key ? to(box) : box));
  return boxes === undefined ? fleet : { ...fleet, boxes };
}

function newestFirst({ info: a }: FleetBox, { info: b }: FleetBox): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
