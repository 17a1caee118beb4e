/** How fast bytes pass through `exec`, and through `cp`. */
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { interleave } from '../lib/measure.mjs';

const GB = 1e9;
const FILE_BYTES = 2.5e8;
const SMALL_FILES = 1000;

// Enough bytes that starting the client, which has a row of its own, does not show.
/** @type {import('../lib/report.mjs').Row[]} */
export const streamRows = [
  stream('stdout', 'stdout of exec into a pipe (the command has the pipe itself)', 6 * GB, {
    run: (into, bytes) => `${into}head -c ${bytes} /dev/zero | cat >/dev/null`,
    target: { least: 0.9 },
  }),
  stream('stdout-file', 'stdout of exec into a file (sbx relays it)', GB, {
    run: (into, bytes) => `${into}head -c ${bytes} /dev/zero >"$BENCH_TMP/out"`,
    target: { least: 0.9 },
  }),
  stream('stdin', 'stdin of exec from a pipe', 6 * GB, {
    run: (into, bytes) => `head -c ${bytes} /dev/zero | ${into}sh -c 'cat >/dev/null'`,
    interactive: true,
  }),
  stream('stdin-file', 'stdin of exec from a file (sbx relays it)', FILE_BYTES, {
    prepare: (bytes) => `[ -e "$BENCH_TMP/in" ] || head -c ${bytes} /dev/zero >"$BENCH_TMP/in"`,
    run: (into) => `${into}sh -c 'cat >/dev/null' <"$BENCH_TMP/in"`,
    interactive: true,
  }),
  copy('cp-in', 'cp of one file into a sandbox', 'big', (box) => `cp "$BENCH_TMP/big" ${box}:/tmp/bench-in`),
  copy(
    'cp-out',
    'cp of one file out of a sandbox',
    'big',
    (box) => `cp ${box}:/tmp/bench-out "$BENCH_TMP/to/sbx"`,
  ),
  copy(
    'cp-tree',
    `cp of ${SMALL_FILES} small files into a sandbox`,
    'tree',
    (box) => `cp "$BENCH_TMP/tree" ${box}:/tmp/bench-in`,
  ),
];

/** @returns {import('../lib/report.mjs').Row} */
function stream(id, title, bytes, { run, prepare, target, interactive = false }) {
  return {
    id,
    title,
    kind: 'rate',
    target,
    bytes,
    async measure(world) {
      const box = await world.box('host');
      const before = prepare?.(bytes);
      const peers = [`sbx exec ${interactive ? '-i ' : ''}${box} -- `, ''].map((into) => ({
        before,
        run: run(into, bytes),
      }));
      return {
        commands: peers.map((peer) => peer.run),
        figures: await interleave(world, peers, 5 * world.rounds),
      };
    },
  };
}

/** @returns {import('../lib/report.mjs').Row} */
function copy(id, title, source, words) {
  const big = `head -c ${FILE_BYTES} /dev/urandom >"$BENCH_TMP/big"`;
  const tree = `mkdir "$BENCH_TMP/tree" && for ((n = 0; n < ${SMALL_FILES}; n++)); do head -c 4096 /dev/zero >"$BENCH_TMP/tree/$n"; done`;
  return {
    id,
    title,
    kind: 'rate',
    bytes: source === 'big' ? FILE_BYTES : SMALL_FILES * 4096,
    async measure(world) {
      const { bavail, bsize } = statfsSync(world.tmp);
      if (bavail * bsize < 8 * FILE_BYTES) return { note: 'too little space in the temporary folder' };
      const box = await world.box('host');
      mkdirSync(join(world.tmp, 'to'), { recursive: true });
      const clean = `rm -rf "$BENCH_TMP/to"/*; sbx exec ${box} -- rm -rf /tmp/bench-in`;
      const make = `[ -e "$BENCH_TMP/${source}" ] || { ${source === 'big' ? big : tree}; }`;
      const out = `sbx exec ${box} -- sh -c '[ -e /tmp/bench-out ] || head -c ${FILE_BYTES} /dev/urandom >/tmp/bench-out'`;
      const peers = [
        { before: `${make}; ${id === 'cp-out' ? out : ':'}`, run: `sbx ${words(box)}`, after: clean },
        { before: make, run: `tar -C "$BENCH_TMP" -c ${source} | tar -C "$BENCH_TMP/to" -x`, after: clean },
      ];
      return {
        commands: peers.map((peer) => peer.run),
        figures: await interleave(world, peers, 5 * world.rounds),
      };
    },
  };
}
