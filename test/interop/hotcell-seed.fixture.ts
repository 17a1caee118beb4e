/**
 * Loaded before the seed's `start.mjs`: settings that its stand-ins take from no environment, and two gaps of its stand-in
 * driver, which knows no path but `/workspace`. Without these a session could not go back to the folder it is in.
 */
import { pathToFileURL } from 'node:url';

interface Driver {
  readonly root: string;
  dir(id: string): string;
  at(id: string, path: string): string;
  cmd(id: string, command: string): string;
  readFile(id: string, file: { readonly path: string }): Promise<string>;
}

const neighbour = (path: string) => new URL(path, pathToFileURL(String(process.argv[1]))).href;

const { config } = (await import(neighbour('config.js'))) as { config: object };
Object.assign(config, JSON.parse(process.env.HOTCELL_SETTINGS ?? '{}'));
delete process.env.HOTCELL_SETTINGS;

const { FolderDriver } = (await import(neighbour('driver/index.js'))) as {
  FolderDriver: { readonly prototype: Driver };
};
const { at, cmd, readFile } = FolderDriver.prototype;

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
} satisfies Partial<Driver>);
