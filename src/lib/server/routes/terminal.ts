/** Terminals over a WebSocket: bytes in binary frames, control in text frames. */
import type { TerminalSize } from '../../backend/contract.ts';
import { isResize } from '../contract/calls.ts';
import type { Daemon } from '../daemon.ts';
import type { Use } from '../fleet.ts';
import { HttpRefusal } from '../http/refusal.ts';
import type { UpgradeRoute } from '../http/route.ts';
import { acceptSocket, CLOSE, type SocketLink } from '../http/web-socket.ts';
import { sessionTerminal, shellTerminal, type Terminal, type TerminalEnd } from './terminal-shell.ts';

export function terminalRoute({ fleet, having }: Daemon): UpgradeRoute {
  return {
    path: '/sandboxes/:id/terminal',
    summary:
      'a login shell that ends with its client, or with `?session=NAME` a session that goes on; `?cols=` and `?rows=`',
    keyInQuery: true,
    async handle(upgrade) {
      using use = await fleet.use(upgrade.params.id ?? '', upgrade);
      const size = sizeOf(upgrade.query);
      const name = upgrade.query.get('session');
      const link = await acceptSocket(upgrade);
      if (link === undefined) return;
      const { socket } = link;
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      const gone = new AbortController();
      void closed.then(() => gone.abort());
      const leaving = AbortSignal.any([upgrade.signal, gone.signal]);
      let end: TerminalEnd;
      try {
        const terminal =
          name === null
            ? await shellTerminal(use, size, link, having, { signal: leaving })
            : await sessionTerminal(use, { name, size }, link, having, { signal: leaving });
        leaving.addEventListener('abort', terminal.leave, { once: true });
        if (leaving.aborted) terminal.leave();
        // That the socket broke is told by its close.
        obey(link, terminal, use).catch(() => undefined);
        end = await terminal.over;
      } catch (error) {
        end = { code: CLOSE.failed, reason: 'the terminal failed' };
        if (!leaving.aborted) socket.send(error instanceof Error ? error.message : String(error));
      }
      if (upgrade.signal.aborted) end = { code: CLOSE.goingAway, reason: 'the server is stopping' };
      socket.close(end.code, end.reason);
      await closed;
    },
  };
}

/** Does what the client says, until it leaves. */
async function obey({ frames }: SocketLink, { input, resize }: Terminal, use: Use): Promise<void> {
  for await (const frame of frames as AsyncIterable<Buffer | string>) {
    if (typeof frame === 'string') {
      const size = resizeOf(frame);
      if (size !== undefined) await resize(size);
      continue;
    }
    use.touch();
    // Keys for a shell that has ended go nowhere.
    await new Promise<void>((written) => input.write(frame, () => written()));
  }
}

/** The size that a text frame asks for. */
function resizeOf(text: string): TerminalSize | undefined {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isResize(said) || (said as { readonly type?: unknown }).type !== 'resize') return undefined;
  return { cols: said.cols, rows: said.rows };
}

function sizeOf(query: URLSearchParams): TerminalSize {
  const size = { cols: Number(query.get('cols') ?? 80), rows: Number(query.get('rows') ?? 24) };
  if (isResize(size)) return size;
  throw new HttpRefusal(400, 'cols and rows must be from 1 to 65535');
}
