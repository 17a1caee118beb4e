/** How long a press of Tab takes: the name of a local sandbox is completed. */
import { interleave } from '../lib/measure.mjs';

/** @type {import('../lib/report.mjs').Row[]} */
export const completionRows = [
  {
    id: 'completion',
    title: 'completion of the name of a sandbox, against node -e 0',
    kind: 'time',
    target: { most: 1.5 },
    async measure(world) {
      const box = await world.box('host');
      const peers = [{ run: "sbx completion complete zsh exec ''" }, { run: 'node -e 0' }];
      const answer = await world.sbx(['completion', 'complete', 'zsh', 'exec', '']);
      if (!answer.includes(`${box}\0`)) throw new Error(`the answer does not have ${box}: ${answer}`);
      return {
        commands: peers.map((peer) => peer.run),
        figures: await interleave(world, peers, 40 * world.rounds),
      };
    },
  },
];
