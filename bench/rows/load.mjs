/** Many sandboxes of one `sbx serve`, and many commands in them at once. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../lib/world.mjs';

const SANDBOXES = 200;
const STREAMS = 500;
/** Requests that make or remove sandboxes at once. */
const AT_ONCE = 8;

/** @type {import('../lib/report.mjs').Row[]} */
export const loadRows = [
  {
    id: 'serve-load',
    title: `streams lost of ${STREAMS} at once in ${SANDBOXES} sandboxes of one server`,
    kind: 'absolute',
    unit: 'lost',
    target: { most: 0 },
    async measure(world) {
      const { ask, peak, stop } = await serve(world);
      const started = performance.now();
      const ids = await inTurn(async () => JSON.parse(await text(await ask('POST', '/sandboxes'))).id);
      const made = performance.now();
      const streams = Array.from({ length: STREAMS }, (_, n) => stream(ask, ids[n % SANDBOXES], n));
      await Promise.all(streams.map(({ begun }) => begun));
      const open = performance.now();
      await inTurn(async (n) => {
        const command = 'for each in go-*; do echo > "$each"; done';
        await text(await ask('POST', `/sandboxes/${ids[n]}/exec`, { command }));
      });
      const wrong = (await Promise.all(streams.map(({ failure }) => failure))).filter(Boolean);
      const over = performance.now();
      await inTurn(async (n) => text(await ask('DELETE', `/sandboxes/${ids[n]}`)));
      const seconds = (from, to) => `${((to - from) / 1000).toFixed(1)} s`;
      const figures = `${SANDBOXES} sandboxes made in ${seconds(started, made)}, all streams open in ${seconds(made, open)}, over in ${seconds(open, over)}; the server held ${peak()} MB at most`;
      await stop();
      return {
        commands: [`${STREAMS} × POST /sandboxes/ID/exec at once`],
        value: wrong.length,
        note: [figures, ...wrong.slice(0, 1)].join('; '),
      };
    },
  },
];

/** Starts a server. @returns how to ask it, its largest memory so far in megabytes, and its end */
async function serve(world) {
  const { env } = world;
  const port = await freePort();
  const others = ['--preview-listen', '127.0.0.1:0', '--egress-listen', '127.0.0.1:0'];
  const argv = [env.NODE, env.SBX_ENTRY, 'serve', '--listen', `127.0.0.1:${port}`, ...others];
  const stop = await world.background(argv, /^serving at/);
  const { pid } = JSON.parse(readFileSync(join(env.SBX_STATE_DIR, 'serve/lock'), 'utf8'));
  return {
    stop,
    ask: (method, path, body = {}) =>
      new Promise((resolve, reject) => {
        request({ port, method, path, agent: false }, resolve)
          .once('error', reject)
          .end(JSON.stringify(body));
      }),
    peak() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024);
    },
  };
}

/** A command that waits until it is told to go on. @returns when it has begun or failed, and how it failed, if it did */
function stream(ask, id, n) {
  const command = `mkfifo go-${n}; echo begun; read _ < go-${n}; echo ${n}; exit ${n % 100}`;
  const { promise: begun, resolve } = Promise.withResolvers();
  const run = async () => {
    const response = await ask('POST', `/sandboxes/${id}/exec`, { command });
    let said = '';
    for await (const chunk of response) {
      said += chunk;
      resolve();
    }
    const whole = said.includes(`"data":"${n}\\n"`) && said.endsWith(`"exitCode":${n % 100}}\n\n`);
    return whole ? undefined : `stream ${n}: status ${response.statusCode}, ${said.slice(-200)}`;
  };
  const failure = run()
    .catch((error) => `stream ${n}: ${error.message}`)
    .finally(resolve);
  return { begun, failure };
}

/** Calls `act` with each number of a sandbox, a few at once. @returns the results in order */
async function inTurn(act) {
  const results = [];
  const rest = Array.from({ length: SANDBOXES }, (_, n) => n)[Symbol.iterator]();
  const worker = async () => {
    for (const n of rest) results[n] = await act(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
