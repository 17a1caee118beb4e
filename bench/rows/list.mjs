/** `ls` of many sandboxes. Their records are copies of one real record, so that there can be a thousand. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { interleave } from '../lib/measure.mjs';

/** @type {import('../lib/report.mjs').Row[]} */
export const listRows = [
  many('ls', 1000, 'stopped', { most: 1.5 }),
  many('ls-running', 1000, 'running', { most: 1.5 }),
  many('ls-100', 100, 'running', { most: 1.5 }),
];

/** @returns {import('../lib/report.mjs').Row} */
function many(id, count, state, target) {
  return {
    id,
    title: `ls of ${count} ${state} sandboxes, against 10`,
    kind: 'time',
    target,
    async measure(world) {
      const all = state === 'stopped' ? ' --all' : '';
      const peers = [];
      for (const each of [count, 10]) {
        const folder = await fabricate(world, `${id}-${each}`, each, state);
        // Younger ones than this are read anew each time: see src/lib/backends/local/listing.ts.
        await pause(2100);
        const listed = (await world.sbx(['ls', '--all', '--json'], folder)).match(/"id"/g)?.length;
        if (listed !== each) throw new Error(`ls lists ${listed} of ${each} sandboxes`);
        peers.push({ run: `SBX_STATE_DIR=${folder} sbx ls${all}` });
      }
      const commands = [`sbx ls${all} (${count})`, `sbx ls${all} (10)`];
      return { commands, figures: await interleave(world, peers, 15 * world.rounds) };
    },
  };
}

/** A state folder with `count` sandboxes. The running ones share an init process, which `ls` only looks at. */
async function fabricate(world, name, count, state) {
  const box = await world.box('host');
  const { folder } = world.insideOf(box);
  const record = JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8'));
  const init = readFileSync(join(folder, 'init.json'));
  const root = join(world.tmp, name, 'local');
  mkdirSync(join(root, 'names'), { recursive: true });
  for (let n = 0; n < count; n++) {
    const id = n.toString(16).padStart(12, '0');
    const own = join(root, 'sandboxes', id);
    mkdirSync(own, { recursive: true });
    const createdAt = new Date(Date.parse(record.createdAt) - n * 60_000).toISOString();
    writeFileSync(join(own, 'record.json'), JSON.stringify({ ...record, id, name: `copy-${n}`, createdAt }));
    if (state === 'running') writeFileSync(join(own, 'init.json'), init);
    symlinkSync(id, join(root, 'names', `copy-${n}`));
  }
  return join(world.tmp, name);
}
