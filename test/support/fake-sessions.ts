/** Sessions in memory that a test prints to; no process, no terminal. */
import { PassThrough, Writable } from 'node:stream';
import type { ChannelEnd, Exit, SessionInfo, Sessions } from '../../src/lib/backend/contract.ts';
import { SbxError } from '../../src/lib/errors.ts';

/** Sessions, and what a test does to them. */
export interface FakeSessions extends Sessions {
  /** The session prints, to whoever is attached and to its recording. */
  print(name: string, data: string | Uint8Array): void;
  /** Its shell ends. */
  end(name: string, exit: Exit): void;
  /** Breaks the channels of all that are attached. */
  cut(name: string): void;
  /** How many are attached. */
  readers(name: string): number;
  /** From now on nothing but an error. */
  fail(error: SbxError | undefined): void;
  /** What was asked, such as `kill main`. */
  readonly asked: readonly string[];
}

interface Fake {
  info: SessionInfo;
  recorded: Buffer;
  readonly channels: Set<{ readonly output: PassThrough; close(end: ChannelEnd): void }>;
}

/** Running sessions of these names. */
export function fakeSessions(...names: readonly string[]): FakeSessions {
  const all = new Map<string, Fake>();
  const asked: string[] = [];
  let failure: SbxError | undefined;
  const add = (name: string, more: Partial<SessionInfo> = {}) => {
    const info: SessionInfo = {
      name,
      state: 'running',
      createdAt: '2026-01-01T00:00:00.000Z',
      command: 'sh',
      ...more,
    };
    all.set(name, { info, recorded: Buffer.alloc(0), channels: new Set() });
    return info;
  };
  for (const name of names) add(name);
  const find = (name: string): Fake => {
    if (failure !== undefined) throw failure;
    const found = all.get(name);
    if (found === undefined) throw new SbxError('not_found', `there is no session '${name}'`);
    return found;
  };
  const note = (what: string) => {
    asked.push(what);
    if (failure !== undefined) throw failure;
  };
  return {
    asked,
    async create({ name, size }) {
      note(`create ${name}`);
      if (all.has(name)) throw new SbxError('conflict', `session '${name}' runs already`);
      return add(name, { size });
    },
    async list() {
      if (failure !== undefined) throw failure;
      return [...all.values()].map(({ info }) => info);
    },
    async kill(name) {
      note(`kill ${name}`);
      find(name);
      all.delete(name);
    },
    async rename(name, to) {
      note(`rename ${name} ${to}`);
      const found = find(name);
      found.info = { ...found.info, name: to };
      all.delete(name);
      all.set(to, found);
    },
    async attach(name, { readOnly }) {
      note(`attach ${name}${readOnly ? ' read-only' : ''}`);
      const { channels, info } = find(name);
      if (info.state === 'ended') throw new SbxError('conflict', `session '${name}' has ended`);
      const output = new PassThrough({ highWaterMark: 1 << 20 });
      const { promise: closed, resolve } = Promise.withResolvers<ChannelEnd>();
      const channel = {
        output,
        close(end: ChannelEnd) {
          if (!channels.delete(channel)) return;
          output.end();
          resolve(end);
        },
      };
      channels.add(channel);
      return {
        output,
        input: new Writable({ write: (_chunk, _encoding, done) => done() }),
        resize: () => undefined,
        redraw: () => undefined,
        close: () => channel.close({ reason: 'closed' }),
        closed,
      };
    },
    async recording(name, bytes) {
      return find(name).recorded.subarray(-bytes);
    },
    async surroundings() {
      return { workdir: '/', env: {} };
    },
    print(name, data) {
      const fake = find(name);
      const bytes = Buffer.from(data);
      fake.recorded = Buffer.concat([fake.recorded, bytes]).subarray(-1024 * 1024);
      for (const { output } of fake.channels) output.write(bytes);
    },
    end(name, exit) {
      const fake = find(name);
      fake.info = { ...fake.info, state: 'ended', exit };
      for (const channel of fake.channels) channel.close({ reason: 'ended', exit });
    },
    cut(name) {
      for (const channel of find(name).channels)
        channel.close({ reason: 'lost', error: new Error('the link broke') });
    },
    readers: (name) => all.get(name)?.channels.size ?? 0,
    fail(error) {
      failure = error;
    },
  };
}
