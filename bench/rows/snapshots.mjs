/** Snapshot and fork of a sandbox with a gigabyte of changes. */
import { statfsSync } from 'node:fs';
import { interleave } from '../lib/measure.mjs';

const BYTES = 1e9;
const ROUNDS = 3;

/** @type {import('../lib/report.mjs').Row[]} */
export const snapshotRows = [
  withChanges('snapshot', (box) => ({
    run: `sbx snapshot create ${box} --name bench-taken`,
    after: 'sbx snapshot rm --yes bench-taken',
  })),
  withChanges('fork', (box) => ({
    run: `sbx fork ${box} bench-forked`,
    after: 'sbx rm --force --yes bench-forked',
  })),
];

/** @returns {import('../lib/report.mjs').Row} */
function withChanges(id, peer) {
  return {
    id,
    title: `${id} of a running sandbox with 1 GB of changes`,
    kind: 'absolute',
    unit: 'ms',
    target: { most: 1000 },
    async measure(world) {
      const { bavail, bsize } = statfsSync(world.tmp);
      if (bavail * bsize < BYTES * (ROUNDS + 3)) return { note: 'too little space in the temporary folder' };
      const name = `changed-${id}`;
      await world.sbx(['create', name, '--network', 'host']);
      const { run, after } = peer(name);
      const before = `sbx exec ${name} -- sh -c 'rm -f /root/big && head -c ${BYTES} /dev/zero >/root/big'`;
      const [figures] = await interleave(world, [{ before, run, after }], ROUNDS);
      await world.sbx(['rm', '--force', '--yes', name]);
      return { commands: [run], value: figures.median, figures: [figures] };
    },
  };
}
