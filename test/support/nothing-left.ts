/**
 * Around a whole run of tests: one temp folder for everything, and a failure when a test leaves a process, a file there
 * or something new in the home folder.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** How long what has been told to end may take to do so. */
const GRACE_MS = 5000;

export default function setup(): () => Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < 22)
    throw new Error(
      `tests need the node of node_modules, and this is ${process.versions.node}: npm test -- FILE`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'sbx-'));
  // Tests run programs as other users in folders below.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  const home = homedir();
  const strangers = process.env.CI === undefined ? undefined : orphans();
  const before = namesOf(home);
  return async () => {
    const end = Date.now() + GRACE_MS;
    const look = () => [
      ...processesOf(folder),
      ...(strangers === undefined ? [] : orphans().filter((each) => !strangers.includes(each))),
    ];
    let left = look();
    while (left.length > 0 && Date.now() < end) {
      await pause(50);
      left = look();
    }
    const files = namesOf(folder);
    const news = namesOf(home).filter((name) => !before.includes(name));
    const problems = [
      ...left.map((each) => `process ${each}`),
      ...files.map((name) => join(folder, name)),
      ...news.map((name) => join(home, name)),
    ];
    if (problems.length === 0) rmSync(folder, { recursive: true });
    else throw new Error(`tests left behind:\n  ${problems.join('\n  ')}`);
  };
}

function namesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The processes that have `folder` among their arguments, in their environment, as their place, or mounted. */
function processesOf(folder: string): string[] {
  const known = ancestors();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !known.has(name))
    .flatMap((pid) => {
      const words = factOf(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      const facts = [
        words,
        factOf(() => readFileSync(`/proc/${pid}/environ`, 'utf8')),
        factOf(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8')),
        factOf(() => readlinkSync(`/proc/${pid}/cwd`)),
      ];
      // vitest's own; ends after this.
      if (words.startsWith('vitest')) return [];
      const alive = facts.some((fact) => fact.includes(folder));
      return alive ? [`${pid}: ${words.replaceAll('\0', ' ').trim().slice(0, 200)}`] : [];
    });
}

/**
 * Programs that sbx starts and whose parent has gone. They may have nothing of the temp folder about them; elsewhere
 * than in CI, where nobody else starts any, they could be anybody's.
 */
function orphans(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    const stat = factOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const words = factOf(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    const isOurs = /(^|\/)(sbx|sh|sleep|node|unshare|nsenter|passt|pasta|slirp4netns|script|dtach)\b/;
    const isOrphan = parent === '1' && state !== 'Z' && isOurs.test(words[0] ?? '');
    return isOrphan ? [`${pid}: ${words.join(' ').trim().slice(0, 200)}`] : [];
  });
}

/** Empty for a process that has gone or is another user's. */
function factOf(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** This process and those above it, whose environment holds the temp folder as well. */
function ancestors(): Set<string> {
  const found = new Set<string>();
  for (let pid = String(process.pid); pid !== '0' && pid !== ''; ) {
    found.add(pid);
    const stat = factOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    pid = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
  }
  return found;
}
