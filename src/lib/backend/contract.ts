/**
 * The port between sbx and the places that have sandboxes. A backend implements the few required members;
 * everything else is a capability: a field that holds its operations and is absent where the backend cannot.
 * Types only: this file loads nothing.
 *
 * Conventions: times are ISO 8601 strings or milliseconds, sizes are bytes, paths inside a sandbox are POSIX.
 * Unknown facts stay `undefined`. Every operation takes a {@link Call} and rejects with an `SbxError`;
 * a call whose signal is aborted rejects with `interrupted` and leaves nothing half-made.
 */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { CreateSpec, Limits, Volume } from './contract-create.ts';
import type { Egress } from './contract-egress.ts';
import type { Archive, Files } from './contract-files.ts';
import type { Sessions } from './contract-sessions.ts';
import type { Manifest } from './manifest.ts';

export type * from './contract-create.ts';
export type * from './contract-egress.ts';
export type * from './contract-files.ts';
export type * from './contract-sessions.ts';

/** What comes along with each call: when to give up. */
export interface Call {
  readonly signal: AbortSignal;
  /** For whoever waits: a part of the call that may take long begins, such as `pulling debian`. Never needed. */
  readonly onStep?: ((text: string) => void) | undefined;
  /** How far that part is, such as `34 % of 50 MB`; takes the place of the last. */
  readonly onDetail?: ((text: string) => void) | undefined;
}

/** A configured place that has sandboxes. */
export interface Backend {
  /** The configured name, such as `local` or `prod`; not the type. */
  readonly name: string;
  readonly manifest: Manifest;
  /**
   * Makes a sandbox that runs. Not idempotent and never retried: a failure leaves nothing behind. `conflict` when the name is taken.
   * `furnish` is called with the sandbox once commands can run in it, before its main command starts. Until it resolves
   * the sandbox is half made: when it rejects, or this process dies, nothing stays.
   */
  create(spec: CreateSpec, call: Call, furnish?: Furnish): Promise<Sandbox>;
  /** Finds one by name or id. Cheap: one look-up. `not_found` when there is none; more than `noSandbox` tells is shown. */
  get(ref: string, call: Call): Promise<Sandbox>;
  /**
   * All sandboxes of this backend, in no given order. Streams; paging is the backend's own matter. Cheap: facts that cost a
   * look at each sandbox may be missing, and are in its `info`.
   */
  list(query: ListQuery, call: Call): AsyncIterable<SandboxInfo>;
  /** Removes the sandbox, its processes and its data. `conflict` when it runs and `force` is not set. Idempotent with `force`: a missing one is no error then. */
  destroy(ref: string, options: { readonly force: boolean }, call: Call): Promise<void>;
  /** Says what works and what does not, for `doctor` and `backend check`. Never rejects for a failing check. */
  check(call: Call): Promise<readonly CheckResult[]>;
  readonly can: BackendCapabilities;
}

/** Puts into a new sandbox what its main command needs. */
export type Furnish = (sandbox: Sandbox) => Promise<void>;

/** Capabilities that belong to the whole backend. */
export interface BackendCapabilities {
  readonly snapshots?: SnapshotStore;
  /** Removes what no sandbox or snapshot needs, and finds half-made things. With `dryRun` only tells. */
  readonly prune?: (options: { readonly dryRun: boolean }, call: Call) => Promise<readonly PrunedItem[]>;
}

/** One isolated environment. A handle: holding one keeps nothing open. `limitation`: why it can do less than others of its backend, such as `it was made with …`. */
export interface Sandbox {
  readonly id: string;
  readonly name: string;
  readonly backend: string;
  info(call: Call): Promise<SandboxInfo>;
  /** Starts a command. Rejects with `conflict` when the sandbox does not run. A command that cannot be found or run is no rejection: it exits 127 or 126. Concurrent. Never retried. */
  exec(spec: ExecSpec, call: Call): Promise<Running>;
  readonly can: SandboxCapabilities;
  readonly limitation?: string | undefined;
}

/** What a sandbox can do besides exec. Each is native or derived from exec; the manifest says which. */
export interface SandboxCapabilities {
  readonly power?: Power;
  readonly suspend?: Suspend;
  readonly lifetime?: Lifetime;
  /** Gives the sandbox another name. `conflict` when it is taken. */
  readonly rename?: (name: string, call: Call) => Promise<void>;
  /** A new running sandbox that starts from the present files of this one. Processes are not copied unless the manifest says so. */
  readonly fork?: (options: ForkOptions, call: Call) => Promise<Sandbox>;
  readonly snapshots?: SandboxSnapshots;
  readonly diff?: (options: { readonly since?: string | undefined }, call: Call) => AsyncIterable<FileChange>;
  readonly env?: EnvStore;
  readonly archive?: Archive;
  readonly files?: Files;
  readonly processes?: Processes;
  readonly ports?: Ports;
  /** Opens a TCP connection to a port inside. Rejects with `unreachable` when nothing listens. */
  readonly dial?: (target: DialTarget, call: Call) => Promise<Duplex>;
  readonly listen?: (
    target: DialTarget,
    onConnection: (socket: Duplex) => void,
    call: Call,
  ) => Promise<Listener>;
  readonly stats?: (call: Call) => Promise<Stats>;
  /** Present when `exec` honours `spec.terminal`. */
  readonly terminal?: true;
  readonly sessions?: Sessions;
  readonly egress?: Egress;
}

export interface ForkOptions {
  readonly name?: string | undefined;
  /** In the place of those of the source. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Over that of the source. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export type SandboxState = 'creating' | 'running' | 'paused' | 'stopped' | 'failed';

/** Everything known of a sandbox. Absent means unknown or not so, never made up. */
export interface SandboxInfo {
  readonly id: string;
  readonly name: string;
  readonly backend: string;
  readonly state: SandboxState;
  readonly createdAt: string;
  readonly startedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** The image, template or rootfs it was made from; absent for a copy of this machine. */
  readonly image?: string | undefined;
  /** The snapshot it was made from. */
  readonly snapshot?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports?: readonly PublishedPort[] | undefined;
  readonly network?: string | undefined;
  readonly volumes?: readonly Volume[] | undefined;
  /** What it is run with, such as `runsc`. */
  readonly runtime?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  readonly isolation?: string | undefined;
  /** The main command's argv. */
  readonly command?: readonly string[] | undefined;
  /** Why it is not running, where known (`expired`, `out of memory`). */
  readonly reason?: string | undefined;
}

export interface PublishedPort {
  readonly port: number;
  readonly url?: string | undefined;
}

export interface ListQuery {
  /** Also those that do not run. */
  readonly all: boolean;
  /** Only those that carry every one of these labels; an empty value matches any. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A command and its arguments, handed to execve as they are. */
export type Argv = readonly [string, ...string[]];

export interface ExecSpec {
  readonly argv: Argv;
  /** On top of the sandbox's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute, or relative to the sandbox's workdir. A missing one fails with exit 126 and a message on stderr. */
  readonly workdir?: string | undefined;
  /** Name or `uid[:gid]`. */
  readonly user?: string | undefined;
  /** `none`: the command reads end of file at once. `pipe`: `Running.stdin` is there. */
  readonly stdin: 'none' | 'pipe';
  /** A terminal: stdout carries everything, stderr is absent. */
  readonly terminal?: (TerminalSize & { readonly term?: string | undefined }) | undefined;
  /**
   * File descriptors of this process that the command may have as its own: pipes, and /dev/null. A backend that runs
   * commands on this machine does so, byte for byte at full speed, and then leaves the stream out of `Running`; others ignore it.
   */
  readonly handOver?:
    | { readonly stdin?: number; readonly stdout?: number; readonly stderr?: number }
    | undefined;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Signals that can be sent to a command, without the `SIG`. */
export type SignalName =
  | 'HUP'
  | 'INT'
  | 'QUIT'
  | 'KILL'
  | 'USR1'
  | 'USR2'
  | 'TERM'
  | 'CONT'
  | 'STOP'
  | 'TSTP'
  | 'WINCH'
  | 'ALRM'
  | 'PIPE'
  | 'ABRT'
  | 'SEGV';

/**
 * A command that runs. If this process dies without `wait` having resolved, the backend ends the command and what it
 * started, as far as it can. Output streams obey back-pressure; `wait` resolves when the command has ended AND
 * its output streams have ended or been handed over; a process that the command left behind holding its output
 * does not hold `wait` for more than a moment.
 */
export interface Running {
  readonly stdin?: Writable;
  readonly stdout?: Readable;
  readonly stderr?: Readable;
  /**
   * To the command's process group. A command that has ended is no error. After INT, TERM, HUP or QUIT the end of the
   * command is also the end of what it started: TERM, and KILL after a grace.
   */
  signal(name: SignalName): Promise<void>;
  /** TERM to everything the command started, KILL after `graceMs`; 0 kills at once. Resolves when the request is on its way. */
  terminate(graceMs: number): Promise<void>;
  resize?(size: TerminalSize): Promise<void>;
  /** Rejects only for failures of the backend, never for the command's. May be called many times. */
  wait(): Promise<Exit>;
}

/**
 * How a command ended. Where the backend is told 128 + n for a signal and for an exit code alike, it is the code, unless the
 * signal was sent through `Running`.
 */
export type Exit = { readonly code: number } | { readonly signal: SignalName | (string & {}) };

export interface Power {
  /** Starts a stopped one. Running already is no error. */
  start(call: Call): Promise<void>;
  /** TERM to all processes, KILL after the grace. Files stay. Stopped already is no error. */
  stop(options: { readonly graceMs: number }, call: Call): Promise<void>;
}

export interface Suspend {
  /** Freezes all processes. Paused already is no error. `conflict` when it does not run. */
  pause(call: Call): Promise<void>;
  resume(call: Call): Promise<void>;
}

export interface Lifetime {
  /** Sets the time of expiry to `ms` from now; `undefined` for never. Returns the new one. */
  extend(ms: number | undefined, call: Call): Promise<string | undefined>;
}

export interface SnapshotInfo {
  readonly id: string;
  readonly name?: string | undefined;
  readonly createdAt: string;
  /** The name of the sandbox it was taken from. */
  readonly sandbox?: string | undefined;
  readonly size?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** The snapshots of a backend. */
export interface SnapshotStore {
  list(call: Call): AsyncIterable<SnapshotInfo>;
  /** By id, unambiguous prefix of one, or name. */
  get(ref: string, call: Call): Promise<SnapshotInfo>;
  /** `conflict` when something needs it. */
  remove(ref: string, call: Call): Promise<void>;
}

/** What a single sandbox does with snapshots. */
export interface SandboxSnapshots {
  /** A consistent picture of the files. Works on running, paused and stopped ones. */
  create(
    options: { readonly name?: string | undefined; readonly labels?: Readonly<Record<string, string>> },
    call: Call,
  ): Promise<SnapshotInfo>;
  /** The files become those of the snapshot; processes end, and a running sandbox runs again afterwards. */
  restore(ref: string, call: Call): Promise<void>;
}

export interface FileChange {
  readonly kind: 'added' | 'changed' | 'removed';
  readonly path: string;
}

/** The sandbox's own environment, given to every later command. */
export interface EnvStore {
  get(call: Call): Promise<Readonly<Record<string, string>>>;
  /** `null` unsets. All or nothing. */
  update(changes: Readonly<Record<string, string | null>>, call: Call): Promise<void>;
}

export type ProcessState = 'running' | 'exited';

/** A background command (`exec -d`) or the main process. */
export interface ProcessInfo {
  readonly id: string;
  /** `main` for the main process. */
  readonly name?: string | undefined;
  readonly argv: readonly string[];
  readonly state: ProcessState;
  readonly pid?: number | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly exit?: Exit | undefined;
}

export interface LogOptions {
  readonly follow: boolean;
  /** Number of last lines; `undefined` for all. */
  readonly tail?: number | undefined;
  /** Epoch milliseconds. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A piece of a log: bytes as they were written; `time` is when they were, in epoch milliseconds, where known. */
export interface LogChunk {
  readonly data: Uint8Array;
  readonly time?: number | undefined;
}

export interface Processes {
  /** Starts a command that outlives the client. Returns once it runs; `argv[0]` missing is exit 127 in its record, as with exec. */
  start(
    spec: Omit<ExecSpec, 'stdin' | 'terminal' | 'handOver'> & { readonly name?: string | undefined },
    call: Call,
  ): Promise<ProcessInfo>;
  list(call: Call): AsyncIterable<ProcessInfo>;
  /** To the process and its group. `not_found` for an unknown id, `conflict` for one that ended. */
  kill(ref: string, signal: SignalName, call: Call): Promise<void>;
  /** Output of a process. Following ends when the process ends. Works for ended ones, and for stopped sandboxes where the manifest says so. */
  logs(ref: string, options: LogOptions, call: Call): AsyncIterable<LogChunk>;
}

export interface ListeningPort {
  readonly port: number;
  /** The address it is bound to, such as `127.0.0.1` or `::`. */
  readonly address: string;
  readonly pid?: number | undefined;
  readonly process?: string | undefined;
}

export interface Ports {
  /** What listens inside on TCP, sorted by port. */
  list(call: Call): Promise<readonly ListeningPort[]>;
}

export interface DialTarget {
  readonly port: number;
  /** Default: 127.0.0.1, then ::1. */
  readonly host?: string | undefined;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** Use of resources; absent where unknown. CPU is a counter in milliseconds, so that a rate needs two samples. */
export interface Stats {
  readonly time: string;
  readonly cpuMs?: number | undefined;
  readonly cpus?: number | undefined;
  readonly memory?: number | undefined;
  readonly memoryLimit?: number | undefined;
  readonly disk?: number | undefined;
  readonly networkRx?: number | undefined;
  readonly networkTx?: number | undefined;
  readonly processes?: number | undefined;
}

export interface CheckResult {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to install or do. */
  readonly hint?: string | undefined;
}

export interface PrunedItem {
  readonly kind: string;
  readonly id: string;
  readonly reason: string;
  readonly size?: number | undefined;
}
