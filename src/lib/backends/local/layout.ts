/**
 * Where the local backend keeps what. Everything below one state folder, 0700:
 *
 *   sandboxes/ID/record.json     what is known of it; replaced by rename
 *   sandboxes/ID/init.json       its init process while it runs
 *   sandboxes/ID/unsettled.json  there while it is being started or stopped: what runs of it has no right to
 *   sandboxes/ID/upper/PART      what was changed in it; work/PART belongs to the overlay mount
 *   sandboxes/ID/guest           what its processes write for us (/var/lib/sbx inside); hostile
 *   pending/ID                   held while a sandbox is being changed; one that nobody holds is a change left half done
 *   names/NAME -> ID             a name is taken by making the link
 *   sandboxes/ID/identity        its /etc/hosts, /etc/hostname and /etc/resolv.conf
 *   sandboxes/ID/home            the files of one without walls
 *   layers/ID/PART               read-only layers, shared by snapshots and sandboxes
 *   snapshots/ID.json
 *   listing.json                 what was last said of many sandboxes, for the sake of speed: see listing.ts
 */
import { join } from 'node:path';

export interface Layout {
  readonly root: string;
  readonly sandboxes: string;
  readonly names: string;
  readonly pending: string;
  readonly layers: string;
  readonly snapshots: string;
  /** Held while a snapshot is taken. */
  readonly snapshotsLock: string;
  /** Held shared while layers are being put to use, and alone while unused ones are removed. */
  readonly layersLock: string;
  /** Where a root is put together, each in a mount namespace of its own; beside the root, which a sandbox's mounts contain. */
  readonly mount: string;
  /** Where folders of this machine are shown without what is mounted below them, likewise. */
  readonly host: string;
}

/** The layout below `root`; touches no file. */
export function layoutAt(root: string): Layout {
  return {
    root,
    sandboxes: join(root, 'sandboxes'),
    names: join(root, 'names'),
    pending: join(root, 'pending'),
    layers: join(root, 'layers'),
    snapshots: join(root, 'snapshots'),
    snapshotsLock: join(root, 'snapshots.lock'),
    layersLock: join(root, 'layers.lock'),
    mount: `${root}.mount`,
    host: `${root}.host`,
  };
}

/** The files of one sandbox. */
export interface SandboxLayout {
  readonly folder: string;
  readonly record: string;
  readonly init: string;
  /** There while it is being started or stopped. */
  readonly unsettled: string;
  /** The pid of the network's helper until the init file names it. */
  readonly networkPid: string;
  readonly upper: string;
  readonly work: string;
  readonly guest: string;
  /** FIFOs for the streams of commands, made to spare. */
  readonly pipes: string;
  readonly identity: string;
  /** The working folder of one without walls, and HOME of its commands. */
  readonly home: string;
}

/** The layout of sandbox `id`; touches no file. */
export function sandboxLayout(layout: Layout, id: string): SandboxLayout {
  // Not with path.join: a list of a thousand sandboxes would take a tenth longer for it.
  const folder = `${layout.sandboxes}/${id}`;
  return {
    folder,
    record: recordPath(layout, id),
    init: initPath(layout, id),
    unsettled: `${folder}/unsettled.json`,
    networkPid: `${folder}/network.pid`,
    upper: `${folder}/upper`,
    work: `${folder}/work`,
    guest: `${folder}/guest`,
    pipes: `${folder}/pipes`,
    identity: `${folder}/identity`,
    home: `${folder}/home`,
  };
}

/** {@link SandboxLayout.record} alone. */
export function recordPath(layout: Layout, id: string): string {
  return `${layout.sandboxes}/${id}/record.json`;
}

/** {@link SandboxLayout.init} alone. */
export function initPath(layout: Layout, id: string): string {
  return `${layout.sandboxes}/${id}/init.json`;
}

/** Where the guest folder is inside a sandbox. */
export const GUEST_FOLDER = '/var/lib/sbx';
