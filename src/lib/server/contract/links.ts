/**
 * Connections that carry frames, for clients of ours: a command with its streams, a port inside, the terminal of a session. The client
 * asks with `Upgrade: sbx-frames/1`; a refusal is an HTTP answer. docs/protocol.md has what is
 * said over each.
 */
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Static, TSchema } from 'typebox';
import type { Call, Running } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { checkArgv, checkExecSpec } from '../../backend/spec.ts';
import { SbxError } from '../../errors.ts';
import { type FrameLink, frameLink } from '../../transport/frame-link.ts';
import { joinStreams } from '../../transport/join.ts';
import { FRAMES, LINK_ERRORS, LINK_INPUT, LINK_OUTPUT } from '../../wire/links.ts';
import { create } from '../create.ts';
import type { Daemon } from '../daemon.ts';
import type { Use } from '../fleet.ts';
import { checker } from '../http/body.ts';
import { failureWithin, HttpRefusal, reasonOf } from '../http/refusal.ts';
import type { UpgradeExchange, UpgradeRoute } from '../http/route.ts';
import type { SandboxRecord } from '../record.ts';
import { type CreateBody, createBody } from '../shapes.ts';
import { attachArgs, dialArgs, execArgs, isResize, isSignal } from './calls.ts';

type Message = Readonly<Record<string, unknown>>;

/** Milliseconds that a command has to end when its client is gone. */
const GRACE_MS = 2000;

export function contractLinks(daemon: Daemon): UpgradeRoute[] {
  return [createLink(daemon), execLink(daemon), dialLink(daemon), attachLink(daemon)];
}

/**
 * Messages in: `{create}` first, with the body of POST /sandboxes; then `{furnished: true}`, or `false`. Out: `{furnish: record}` once commands can run in it,
 * and as the last one `{made: record}` or `{error, code, hint}`. The end of the link before that is the end of the sandbox.
 */
function createLink(daemon: Daemon): UpgradeRoute {
  const check = checker(createBody);
  return {
    path: '/links/create',
    summary: 'make a sandbox that the client furnishes before its main command starts',
    async handle(upgrade) {
      asksForFrames(upgrade);
      const first = Promise.withResolvers<Message>();
      const furnished = Promise.withResolvers<void>();
      // Where the making fails before, nobody waits for it.
      furnished.promise.catch(() => undefined);
      const gone = new AbortController();
      const link = accept(upgrade, (message) => {
        first.resolve(message);
        if (message.furnished === true) furnished.resolve();
        if (message.furnished === false)
          furnished.reject(new SbxError('failed', 'it could not be furnished'));
      });
      void link.closed.then(() => {
        first.resolve({});
        furnished.reject(new SbxError('interrupted', 'the client has gone'));
        gone.abort();
      });
      try {
        const { create: body } = await first.promise;
        check(body, 'create');
        const furnish = async (record: SandboxRecord) => {
          link.send({ furnish: record });
          await furnished.promise;
        };
        const call = { signal: AbortSignal.any([gone.signal, upgrade.signal]) };
        link.send({ made: await create(daemon, body as CreateBody, call, { furnish }) });
      } catch (error) {
        link.send(failureWithin(error));
      }
      link.end();
      await link.closed;
    },
  };
}

/**
 * Messages in: `{exec}` first, which may be long; then `{signal}`, `{terminate: ms}`, `{resize: {cols, rows}}`,
 * `{closed: 3}` when nobody reads that stream any more. Out: `{started: true}`, and
 * as the last one `{exit}` or `{error, code, hint}`.
 */
function execLink(daemon: Daemon): UpgradeRoute {
  const check = checker(execArgs);
  return {
    path: '/sandboxes/:id/links/exec',
    summary: 'run a command: stream 2 is its input, 3 its output, 4 its errors',
    async handle(upgrade) {
      asksForFrames(upgrade);
      const use = await daemon.fleet.use(upgrade.params.id ?? '', upgrade);
      try {
        const first = Promise.withResolvers<Message>();
        let running: Promise<Running> | undefined;
        /** What was said is done in order. */
        let said: Promise<unknown> = Promise.resolve();
        const link = accept(upgrade, (message) => {
          first.resolve(message);
          if (running !== undefined) said = after(said, running, message);
        });
        const input = link.readable(LINK_INPUT);
        void link.closed.then(() => first.resolve({}));
        running = first.promise.then(({ exec }) => {
          check(exec, 'exec');
          return start(use, exec as Static<typeof execArgs>, upgrade);
        });
        await follow(running, input, link, upgrade.signal);
      } finally {
        use[Symbol.dispose]();
      }
    },
  };
}

function start({ sandbox, record }: Use, args: Static<typeof execArgs>, call: Call): Promise<Running> {
  const { argv, ...rest } = args;
  const env = { ...record.env, ...rest.env };
  return sandbox.exec(checkExecSpec({ ...rest, argv: checkArgv(argv), env }), call);
}

/** Obeys `message` after what was said before. */
function after(before: Promise<unknown>, running: Promise<Running>, message: Message): Promise<unknown> {
  // That it could not be is told by how the command ends.
  return before.then(async () => obey(await running, message)).catch(() => undefined);
}

async function obey(running: Running, { signal, terminate, resize, closed }: Message): Promise<void> {
  if (closed === LINK_OUTPUT) running.stdout?.destroy();
  if (closed === LINK_ERRORS) running.stderr?.destroy();
  if (isSignal(signal)) await running.signal(signal);
  else if (typeof terminate === 'number' && terminate >= 0) await running.terminate(terminate);
  else if (isResize(resize)) await running.resize?.(resize);
}

/** Until the command has ended and all is sent; the end of the link before that is the end of the command. */
async function follow(
  starting: Promise<Running>,
  input: Readable,
  link: FrameLink,
  stopping: AbortSignal,
): Promise<void> {
  let over = false;
  try {
    const running = await starting;
    const end = () => {
      // When that fails, so does wait, which says why.
      if (!over) running.terminate(GRACE_MS).catch(() => undefined);
    };
    stopping.addEventListener('abort', end);
    void link.closed.then(() => {
      stopping.removeEventListener('abort', end);
      end();
    });
    link.send({ started: true });
    const copy = (from: Readable | undefined, stream: number) => {
      if (from === undefined) return undefined;
      // An output that the client closed is over; how the command takes that is told by its exit.
      return pipeline(from, link.writable(stream)).catch(() => undefined);
    };
    // The command may end, or close its input, before it has read everything.
    if (running.stdin !== undefined) pipeline(input, running.stdin).catch(() => undefined);
    const [exit] = await Promise.all([
      running.wait(),
      copy(running.stdout, LINK_OUTPUT),
      copy(running.stderr, LINK_ERRORS),
    ]);
    // A command that the server ended did not end by itself.
    link.send(stopping.aborted ? failureWithin(stopping.reason) : { exit });
  } catch (error) {
    link.send(failureWithin(error));
  } finally {
    over = true;
    link.end();
  }
  await link.closed;
}

/** Stream 2 goes in, 3 comes out; each ends apart. */
function dialLink(daemon: Daemon): UpgradeRoute {
  const args = argsOf(dialArgs);
  return {
    path: '/sandboxes/:id/links/dial',
    summary: 'a TCP connection to a port inside: the connection itself, without frames',
    async handle(upgrade) {
      const target = args(upgrade);
      const use = await daemon.fleet.use(upgrade.params.id ?? '', upgrade);
      try {
        const inside = await need(use.sandbox, 'dial', daemon.having)(target, upgrade);
        await joinStreams(take(upgrade), inside);
      } finally {
        use[Symbol.dispose]();
      }
    },
  };
}

/** Messages in: `{resize}`, `{redraw}`, `{probe: number}`. Out: `{probe: number}`, and `{closed}` as the last one. */
function attachLink(daemon: Daemon): UpgradeRoute {
  const args = argsOf(attachArgs);
  return {
    path: '/sandboxes/:id/links/attach',
    summary: 'the terminal of a session: stream 2 is keys, 3 what it prints',
    async handle(upgrade) {
      const { name, ...options } = args(upgrade);
      const use = await daemon.fleet.use(upgrade.params.id ?? '', upgrade);
      try {
        await attach(use, name, options, daemon, upgrade);
      } finally {
        use[Symbol.dispose]();
      }
    },
  };
}

async function attach(
  use: Use,
  name: string,
  options: Omit<Static<typeof attachArgs>, 'name'>,
  { having }: Daemon,
  upgrade: UpgradeExchange,
): Promise<void> {
  const channel = await need(use.sandbox, 'sessions', having).attach(name, options, upgrade);
  const link: FrameLink = accept(upgrade, ({ resize, redraw, probe }) => {
    if (isResize(resize)) channel.resize(resize);
    if (isResize(redraw)) channel.redraw(redraw);
    if (typeof probe === 'number') link.send({ probe });
  });
  // Who leaves in the middle of a key is no failure: the ends of the channel and of the link say all.
  pipeline(link.readable(LINK_INPUT), channel.input).catch(() => undefined);
  // And so do they here.
  pipeline(channel.output, link.writable(LINK_OUTPUT)).catch(() => undefined);
  void link.closed.then(() => channel.close());
  const detach = () => channel.close();
  upgrade.signal.addEventListener('abort', detach);
  const end = await channel.closed;
  upgrade.signal.removeEventListener('abort', detach);
  const lost = end.reason === 'lost' || upgrade.signal.aborted;
  const error = reasonOf(upgrade.signal, end.reason === 'lost' ? end.error : undefined);
  link.send({ closed: lost ? { reason: 'lost', error } : end });
  link.end();
  await link.closed;
}

/** Reads `?args=`, which holds JSON. */
function argsOf<Args extends TSchema>(schema: Args): (upgrade: UpgradeExchange) => Static<Args> {
  const check = checker(schema);
  return (upgrade) => {
    asksForFrames(upgrade);
    let value: unknown;
    try {
      value = JSON.parse(upgrade.query.get('args') ?? '');
    } catch {
      throw new HttpRefusal(400, 'args must be JSON');
    }
    check(value, 'args');
    return value as Static<Args>;
  };
}

function asksForFrames({ request }: UpgradeExchange): void {
  if (request.headers.upgrade !== FRAMES) throw new HttpRefusal(400, `upgrade to ${FRAMES}`);
}

/** Answers that the connection is taken. */
function take({ socket, head }: UpgradeExchange): Duplex {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${FRAMES}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return socket;
}

function accept(upgrade: UpgradeExchange, onMessage: (message: Message) => void): FrameLink {
  return frameLink(take(upgrade), onMessage);
}
