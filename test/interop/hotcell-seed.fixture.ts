/**
 * Loaded before the seed's `start.mjs`: settings that its stand-ins take from no environment, and gaps of its stand-in
 * driver. It knows no path but `/workspace`: a session could not go back to the folder it is in. Its sandboxes share `/var/lib`.
 * And it leaves running what runs in a sandbox that is stopped or removed.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasErrno } from '../../src/lib/errors.ts';

interface Started {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Driver {
  readonly root: string;
  dir(id: string): string;
  at(id: string, path: string): string;
  cmd(id: string, command: string): string;
  readFile(id: string, file: { readonly path: string }): Promise<string>;
  exec(id: string, command: string, options: Started, write: unknown): Promise<void>;
  openTerminal(id: string, options: Started): Promise<unknown>;
  stop(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
}

const neighbour = (path: string) => new URL(path, pathToFileURL(String(process.argv[1]))).href;

const { config } = (await import(neighbour('config.js'))) as { config: object };
Object.assign(config, JSON.parse(process.env.HOTCELL_SETTINGS ?? '{}'));
delete process.env.HOTCELL_SETTINGS;

const { FolderDriver } = (await import(neighbour('driver/index.js'))) as {
  FolderDriver: { readonly prototype: Driver };
};
const { at, cmd, readFile, exec, openTerminal, stop, destroy } = FolderDriver.prototype;

/** Where sbx keeps its things in a sandbox; what a sandbox runs is known by it. */
const guestFolder = (driver: Driver, id: string) => join(driver.dir(id), '.sbx');
const withGuestFolder = <T extends Started>(driver: Driver, id: string, options: T): T => ({
  ...options,
  env: { SBX_GUEST_DIR: guestFolder(driver, id), ...options.env },
});

/** Ends what runs in a sandbox. What sbx had in `/tmp` for it would have gone with a real one. */
function endAll(driver: Driver, id: string): void {
  const mark = `SBX_GUEST_DIR=${guestFolder(driver, id)}`;
  let found: boolean;
  do {
    found = false;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const words = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
        if (!words.includes(mark)) continue;
        process.kill(Number(pid), 'SIGKILL');
        found = true;
        const command = words.find((each) => /^SBX_MARK=[0-9a-f]+$/.test(each))?.slice('SBX_MARK='.length);
        if (command !== undefined) rmSync(`/tmp/sbx-exec-${command}`, { recursive: true, force: true });
      } catch (error) {
        if (!hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) throw error;
      }
    }
    // A process may have been born in between.
  } while (found);
}

Object.assign(FolderDriver.prototype, {
  /** A path that a command printed lies in the sandbox's folder already. */
  at(this: Driver, id: string, path: string) {
    return path.startsWith(this.dir(id)) ? path : at.call(this, id, path);
  },
  /** The sandbox's own /tmp, as far as the server itself writes there. */
  cmd(this: Driver, id: string, command: string) {
    return cmd.call(this, id, command).replaceAll('/tmp/hotcell-', `${this.dir(id)}-`);
  },
  readFile(this: Driver, id: string, { path }: { readonly path: string }) {
    return readFile.call(this, id, { path: path.replace('/tmp/hotcell-', `${this.dir(id)}-`) });
  },
  exec(this: Driver, id: string, command: string, options: Started, write: unknown) {
    return exec.call(this, id, command, withGuestFolder(this, id, options), write);
  },
  openTerminal(this: Driver, id: string, options: Started) {
    return openTerminal.call(this, id, withGuestFolder(this, id, options));
  },
  async stop(this: Driver, id: string) {
    endAll(this, id);
    await stop.call(this, id);
  },
  async destroy(this: Driver, id: string) {
    endAll(this, id);
    await destroy.call(this, id);
    // What was started while its folder went away.
    endAll(this, id);
  },
} satisfies Partial<Driver>);
