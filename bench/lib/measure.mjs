/** Runs snippets of shell in turn, so that whatever else the machine does hits all of them alike. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const DRIVER = fileURLToPath(new URL('./interleave.sh', import.meta.url));
const STDERR_KEPT = 4000;

/**
 * @typedef {{ run: string, before?: string, after?: string }} Peer shell to time, and shell around it that is not timed
 * @typedef {{ wall: number, median: number, cpu: number }} Figures milliseconds: 25th percentile and median of the wall
 *   clock, median of user + system time of the command and everything that it waited for
 */

/**
 * Times every peer `rounds` times, one after the other in each round.
 * @param {import('./world.mjs').World} world
 * @param {readonly Peer[]} peers
 * @param {number} rounds
 * @returns {Promise<Figures[]>}
 */
export async function interleave(world, peers, rounds) {
  const whole = Math.max(1, Math.round(rounds));
  const words = peers.flatMap(({ before = ':', run, after = ':' }) => [before, run, after]);
  const child = spawn('bash', [DRIVER, String(whole), ...words], {
    env: world.env,
    cwd: world.tmp,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  world.watch(child);
  const [, stdout, stderr, report] = child.stdio;
  // Read, because a pipe is what scripts and CI put there.
  stdout.resume();
  let complaint = '';
  stderr.on('data', (data) => {
    complaint = `${complaint}${data}`.slice(-STDERR_KEPT);
  });
  let lines = '';
  report.on('data', (data) => {
    lines += data;
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`exit ${code}: ${complaint.trim().split('\n').slice(-3).join(' | ')}`);
  const runs = lines
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  return peers.map((_, index) => figuresOf(runs.filter(([of]) => of === index)));
}

/** @param {number[][]} runs INDEX STATUS MICROSECONDS USER SYS @returns {Figures} */
function figuresOf(runs) {
  const walls = runs.map(([, , micros]) => micros / 1000);
  return {
    wall: percentile(walls, 25),
    median: percentile(walls, 50),
    cpu: percentile(
      runs.map(([, , , user, sys]) => (user + sys) * 1000),
      50,
    ),
  };
}

/** @param {readonly number[]} values @param {number} percent @returns {number} with linear interpolation */
export function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = ((sorted.length - 1) * percent) / 100;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}
