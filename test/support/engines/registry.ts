/** Registries of images: Debian's docker-registry on a port of 127.0.0.1, which engines trust without TLS. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { lacking } from '../programs.ts';

/** A registry that runs. */
export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:PORT`, the first part of the names of its images. */
  readonly host: string;
}

export interface RegistryOptions {
  /** An empty folder, or that of another registry, whose images it then has. */
  readonly folder: string;
  /** Lines of an htpasswd file: who may pull. Default: everybody. */
  readonly logins?: string | undefined;
}

/** What this machine lacks for one; undefined when it has everything. */
export const registryNeeds: string | undefined = lacking('docker-registry');

/** Starts one and waits until it listens. */
export async function startRegistry({ folder, logins }: RegistryOptions): Promise<Registry> {
  const at = `${folder}/${logins === undefined ? 'open' : 'closed'}`;
  const settings = {
    version: '0.1',
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: `${folder}/images` } },
    http: { addr: '127.0.0.1:0' },
    ...(logins === undefined ? {} : { auth: { htpasswd: { realm: 'test', path: `${at}.htpasswd` } } }),
  };
  // YAML, of which JSON is a part.
  writeFileSync(`${at}.yml`, JSON.stringify(settings));
  if (logins !== undefined) writeFileSync(`${at}.htpasswd`, logins);
  const child = spawn('docker-registry', ['serve', `${at}.yml`], { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface(child.stderr)) {
    const [, host] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (host === undefined) continue;
    child.stderr.resume();
    return {
      host,
      async [Symbol.asyncDispose]() {
        child.kill();
        await once(child, 'exit');
      },
    };
  }
  throw new Error('docker-registry ended instead of listening');
}
