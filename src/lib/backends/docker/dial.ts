/**
 * Connections to ports inside: straight to the container's address where it can be reached from here, which is full speed, else
 * by a relay inside, which also reaches what listens on the container's own 127.0.0.1.
 */
import type { Duplex } from 'node:stream';
import type { Call, DialTarget, Sandbox } from '../../backend/contract.ts';
import { deriveDial } from '../../backend/derived/dial.ts';
import { SbxError } from '../../errors.ts';
import { connectTcp } from '../../transport/connect.ts';
import type { Box } from './box.ts';
import { inspect } from './find.ts';

/** Longest that an address of this machine's bridges takes to answer, in milliseconds. */
const ANSWER_MS = 500;

/** `dial` of the contract. */
export function dialer(box: Box, sandbox: Sandbox): (target: DialTarget, call: Call) => Promise<Duplex> {
  const relay = deriveDial(sandbox);
  let address: Promise<string | undefined> | undefined;
  return async (target, call) => {
    address ??= reachableAddress(box, call).catch((error: unknown) => {
      address = undefined;
      throw error;
    });
    const host = target.host === undefined ? await address : undefined;
    const straight = host === undefined ? undefined : await connect(host, target.port, call);
    return straight ?? relay(target, call);
  };
}

/** The address of a container on a bridge of this machine's own engine. */
async function reachableAddress({ docker, container }: Box, call: Call): Promise<string | undefined> {
  if (process.platform !== 'linux' || (await docker.engine.address()).kind !== 'socket') return undefined;
  const found = await inspect(docker.engine, container, call);
  const networks = Object.values(found?.NetworkSettings?.Networks ?? {});
  return networks.map(({ IPAddress }) => IPAddress).find(Boolean);
}

/** Undefined where nothing answers: something may listen on the loopback device inside. */
async function connect(host: string, port: number, call: Call): Promise<Duplex | undefined> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    return await connectTcp({ host, port }, { signal });
  } catch (error) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted', { cause: error });
    return undefined;
  }
}
