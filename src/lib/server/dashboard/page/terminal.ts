/** A terminal on the page, and the WebSocket that it shows. */
import type { Terminal } from '@xterm/xterm';
import { styleThroughCssom } from './cssom-styles.ts';
import { palette } from './palette.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface TerminalLink {
  /** Types for the user. */
  type(keys: string): void;
  focus(): void;
  close(): void;
}

export interface TerminalOptions {
  /** Where it is shown. */
  readonly place: HTMLElement;
  readonly url: (size: Size) => URL;
  /** What becomes of keys before they are sent. */
  readonly keys: (keys: string) => string;
  /** Opened, or closed, with what the server said of it. */
  readonly onState: (state: 'open' | 'closed', said: string) => void;
  /** The user wants to leave by the keyboard. */
  readonly onLeave: () => void;
}

/** Bytes of output that may wait to be drawn; a terminal that floods loses what is between. */
const WAITING_LIMIT = 4 * 1024 * 1024;

export async function openTerminal(options: TerminalOptions): Promise<TerminalLink> {
  const [{ Terminal }, { FitAddon }] = await Promise.all([
    import('@xterm/xterm'),
    import('@xterm/addon-fit'),
  ]);
  styleThroughCssom();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const terminal = new Terminal({
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: matchMedia('(max-width: 600px)').matches ? 12 : 14,
    cursorBlink: true,
    minimumContrastRatio: 4.5,
    screenReaderMode: true,
    scrollback: 5000,
    theme: palette(dark.matches),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  options.place.replaceChildren();
  terminal.open(options.place);
  fit.fit();
  const ending = new AbortController();
  const { signal } = ending;
  dark.addEventListener('change', () => (terminal.options.theme = palette(dark.matches)), { signal });
  const size = () => ({ cols: terminal.cols, rows: terminal.rows });
  const close = () => {
    ending.abort();
    terminal.dispose();
  };
  try {
    const socket = new WebSocket(options.url(size()));
    signal.addEventListener('abort', () => socket.close());
    const send = connect(socket, terminal, options, signal);
    const sizes = new ResizeObserver(() => fit.fit());
    sizes.observe(options.place);
    signal.addEventListener('abort', () => sizes.disconnect());
    terminal.onResize(() => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'resize', ...size() }));
    });
    terminal.attachCustomKeyEventHandler((event) => {
      if (!(event.key === 'Enter' && event.ctrlKey && event.shiftKey)) return true;
      if (event.type === 'keydown') options.onLeave();
      return false;
    });
    return { type: send, focus: () => terminal.focus(), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Copies both ways. @returns what sends keys. */
function connect(
  socket: WebSocket,
  terminal: Terminal,
  { keys, onState }: TerminalOptions,
  signal: AbortSignal,
): (text: string) => void {
  const encoder = new TextEncoder();
  let said = '';
  let waiting = 0;
  const send = (bytes: Uint8Array<ArrayBuffer>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(bytes);
  };
  const type = (text: string) => send(encoder.encode(keys(text)));
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('open', () => onState('open', ''), { signal });
  socket.addEventListener(
    'message',
    ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') {
        said = data;
        return;
      }
      if (waiting > WAITING_LIMIT) return;
      waiting += data.byteLength;
      terminal.write(new Uint8Array(data), () => {
        waiting -= data.byteLength;
      });
    },
    { signal },
  );
  socket.addEventListener('close', ({ reason }) => onState('closed', said || reason), { signal });
  terminal.onData(type);
  terminal.onBinary((text) => send(Uint8Array.from(text, (sign) => sign.charCodeAt(0))));
  return type;
}
