/** A terminal that is read as fast as it can be, without a screen. */
import { spawn } from '@lydell/node-pty';

/** What may stand before the text that is waited for, and be cut off from it. */
const KEPT = 200;

/**
 * @param {readonly [string, ...string[]]} argv
 * @param {{ env: Record<string, string>, cwd?: string }} options
 */
export function openPty([file, ...args], { env, cwd }) {
  const pty = spawn(file, args, { cols: 80, rows: 24, cwd, env: { ...env, TERM: 'xterm' }, encoding: null });
  let recent = '';
  let waiting;
  let bytes = 0;
  const ended = new Promise((resolve) => {
    pty.onExit(({ exitCode }) => {
      waiting?.reject(new Error(`${file} ended with ${exitCode}: ${recent}`));
      resolve();
    });
  });
  const look = () => {
    const at = waiting === undefined ? -1 : recent.indexOf(waiting.text);
    if (at < 0) return;
    recent = recent.slice(at + waiting.text.length);
    waiting.resolve();
    waiting = undefined;
  };
  pty.onData((data) => {
    bytes += data.length;
    recent = recent.slice(-KEPT) + data.latin1Slice(0, data.length);
    look();
  });
  return {
    ended,
    type: (keys) => pty.write(keys),
    /** Resolves when `text` has come since what was waited for last. */
    until: (text) =>
      new Promise((resolve, reject) => {
        waiting = { text, resolve, reject };
        look();
      }),
    /** Takes what has come as seen. */
    forget() {
      recent = '';
      bytes = 0;
    },
    get bytes() {
      return bytes;
    },
    async close() {
      pty.kill('SIGHUP');
      await ended;
    },
  };
}
