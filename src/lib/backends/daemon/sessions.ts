/** Sessions of a sandbox at a server of ours: its own, over calls; their terminals over links. */
import type { Call, ChannelEnd, SessionChannel, Sessions } from '../../backend/contract.ts';
import { frameLink } from '../../transport/frame-link.ts';
import { FRAMES, LINK_INPUT, LINK_OUTPUT } from '../../wire/links.ts';
import { type Api, segment } from './api.ts';
import type { Calls } from './calls.ts';

export function remoteSessions(api: Api, id: string, calls: Calls): Sessions {
  return {
    create: (spec, call) => calls.value('sessions.create', spec, call),
    list: (call) => calls.value('sessions.list', {}, call),
    kill: async (name, call) => void (await calls.value('sessions.kill', { name }, call)),
    rename: async (name, to, call) => void (await calls.value('sessions.rename', { name, to }, call)),
    async recording(name, bytes, call) {
      return Buffer.from(await calls.value<string>('sessions.recording', { name, bytes }, call), 'base64');
    },
    surroundings: (name, call) => calls.value('sessions.surroundings', { name }, call),
    async attach(name, options, call) {
      const args = encodeURIComponent(JSON.stringify({ name, ...options }));
      const path = `/sandboxes/${segment(id)}/links/attach?args=${args}`;
      return channelOver(await api.upgrade(path, FRAMES, call));
    },
  };
}

function channelOver(connection: Awaited<ReturnType<Api['upgrade']>>): SessionChannel {
  const end = Promise.withResolvers<ChannelEnd>();
  const probes = new Map<number, () => void>();
  let told: ChannelEnd | undefined;
  let left = false;
  let asked = 0;
  const link = frameLink(connection, ({ closed, probe }) => {
    if (typeof probe === 'number') probes.get(probe)?.();
    if (closed !== undefined) told = endOf(closed);
  });
  const output = link.readable(LINK_OUTPUT);
  const input = link.writable(LINK_INPUT);
  // How the channel ended is told by `closed`.
  for (const stream of [output, input]) stream.on('error', () => undefined);
  void link.closed.then(async (error) => {
    if (output.readableLength > 0 && !output.destroyed && told !== undefined && !left) {
      await new Promise<void>((resolve) => {
        for (const event of ['end', 'close', 'error']) output.once(event, () => resolve());
      });
    }
    if (left) end.resolve({ reason: 'closed' });
    else end.resolve(told ?? { reason: 'lost', error: error ?? new Error('the connection broke') });
  });
  return {
    output,
    input,
    resize: (resize) => link.send({ resize }),
    redraw: (redraw) => link.send({ redraw }),
    probe: (call) => answered(++asked, probes, (probe) => link.send({ probe }), call),
    close() {
      left = true;
      link.destroy();
    },
    closed: end.promise,
  };
}

/** Sends a number and resolves when it comes back. */
async function answered(
  number: number,
  probes: Map<number, () => void>,
  send: (number: number) => void,
  call: Call,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => reject(call.signal.reason);
  probes.set(number, resolve);
  call.signal.addEventListener('abort', giveUp, { once: true });
  send(number);
  try {
    await promise;
  } finally {
    probes.delete(number);
    call.signal.removeEventListener('abort', giveUp);
  }
}

function endOf(value: unknown): ChannelEnd {
  const { reason, exit, error } = (value ?? {}) as Record<string, unknown>;
  if (reason === 'ended') return { reason, ...(exit === undefined ? {} : { exit: exit as never }) };
  if (reason === 'taken') return { reason };
  return { reason: 'lost', error: new Error(typeof error === 'string' ? error : 'the server closed it') };
}
