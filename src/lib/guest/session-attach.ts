/** What session-attach.sh says, taken apart. */
import type { ChannelEnd } from '../backend/contract.ts';
import { exitOfRecord } from './sessions.ts';

/** What has been said so far. */
export interface AttachReport {
  readonly connected: boolean;
  readonly end: ChannelEnd | undefined;
}

/** Reads the lines of `text` that begin with `mark`. */
export function attachReport(text: string, mark: string): AttachReport {
  let connected = false;
  let end: ChannelEnd | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const [first, word = '', code] = line.trim().split(' ');
    if (first !== mark) continue;
    if (word === 'connected') connected = true;
    else end ??= endOf(word, code);
  }
  return { connected, end };
}

function endOf(word: string, code: string | undefined): ChannelEnd | undefined {
  if (word === 'taken') return { reason: 'taken' };
  if (word === 'lost') return { reason: 'lost', error: new Error('the session closed the connection') };
  if (word !== 'ended') return undefined;
  const exit = exitOfRecord(code);
  return exit === undefined ? { reason: 'ended' } : { reason: 'ended', exit };
}
