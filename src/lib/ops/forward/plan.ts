/** From the words of a command line to what to forward. Pure. */
import { isIP } from 'node:net';
import { SbxError } from '../../errors.ts';
import type { ForwardPlan } from './run.ts';
import { parseForwardSpecs, parseUnixSpec } from './spec.ts';

export interface ForwardRequest {
  /** The words after the verb: a sandbox, if the first one is no spec, and specs. */
  readonly words: readonly string[];
  readonly unix?: readonly string[] | undefined;
  readonly reverse: boolean;
  readonly all: boolean;
  readonly address?: string | undefined;
}

export interface PlannedForward {
  /** The sandbox that was named. */
  readonly sandbox: string | undefined;
  readonly plan: ForwardPlan;
  /** The specs as they were written. */
  readonly specs: readonly string[];
}

/** @throws SbxError `usage` when something is malformed, or nothing is asked for. */
export function planForward({ words, unix = [], reverse, all, address }: ForwardRequest): PlannedForward {
  const [first] = words;
  const sandbox = first === undefined || looksLikeSpec(first) ? undefined : first;
  const specs = sandbox === undefined ? words : words.slice(1);
  if (address !== undefined && isIP(address) === 0) {
    throw new SbxError('usage', `not an IP address: ${address}`, { hint: 'write it like --address 0.0.0.0' });
  }
  if (reverse && (all || unix.length > 0)) {
    throw new SbxError('usage', `--reverse does not go with ${all ? '--all' : '--unix'}`);
  }
  if (specs.length + unix.length === 0 && !all) {
    throw new SbxError('usage', 'no port to forward is named', {
      hint: `sbx forward ${sandbox ?? 'SANDBOX'} 8080:3000, or everything that listens: sbx forward ${sandbox ?? 'SANDBOX'} --all`,
    });
  }
  const plan = {
    specs: parseForwardSpecs(specs, { reverse }),
    unix: unix.map(parseUnixSpec),
    reverse,
    all,
    address,
  };
  return { sandbox, plan, specs };
}

/** Whether a word can only be meant as a port: nothing but digits and what stands between them, and an address before. */
export function looksLikeSpec(word: string): boolean {
  return /^(\[[0-9a-f:.]*\]:|localhost:|[\d.]+:)?[\d:,-]+$/i.test(word);
}
