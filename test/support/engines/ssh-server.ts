/** A machine to reach by ssh: OpenSSH's own server on this one, with keys and settings of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { lacking, which } from '../programs.ts';

/** A server that runs. */
export interface SshServer extends AsyncDisposable {
  readonly port: number;
  /** A PATH whose `ssh` knows the server, and has a key that it takes. */
  readonly path: string;
  /** How many connections there are. */
  connections(): number;
  /** Sets the variables of the commands that are run there from now on. */
  setEnv(variables: Readonly<Record<string, string>>): void;
  /** Takes the key no longer, or again. */
  admit(key: boolean): void;
}

/** What this machine lacks for one; undefined when it has everything. */
export const sshNeeds: string | undefined = lacking('sshd', 'ssh', 'ssh-keygen');

/** Where the server wants an empty folder. */
const PRIVILEGES = '/run/sshd';

/** Starts one with its files in the new `folder`. A process of its own serves each connection. */
export async function startSshServer(folder: string): Promise<SshServer> {
  // It wants to be called by its whole path.
  const program = which('sshd') ?? '';
  const isOurs = !existsSync(PRIVILEGES);
  if (isOurs) mkdirSync(PRIVILEGES);
  mkdirSync(`${folder}/bin`, { recursive: true });
  for (const key of ['host', 'id'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', `${folder}/${key}`]);
  const setEnv = (variables: Readonly<Record<string, string>>) => {
    const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    writeLines(`${folder}/sshd_config`, [
      ...[`HostKey ${folder}/host`, `AuthorizedKeysFile ${folder}/authorized_keys`, 'StrictModes no'],
      ...['UsePAM no', 'PermitRootLogin prohibit-password', 'PasswordAuthentication no', 'PidFile none'],
      `SetEnv ${pairs.join(' ')}`,
    ]);
  };
  const admit = (key: boolean) => {
    if (key) copyFileSync(`${folder}/id.pub`, `${folder}/authorized_keys`);
    else writeFileSync(`${folder}/authorized_keys`, '');
  };
  setEnv({ PATH: process.env.PATH ?? '' });
  admit(true);
  writeLines(`${folder}/ssh_config`, [
    ...[`IdentityFile ${folder}/id`, 'IdentitiesOnly yes', `UserKnownHostsFile ${folder}/known_hosts`],
    'StrictHostKeyChecking accept-new',
  ]);
  writeFileSync(`${folder}/bin/ssh`, `#!/bin/sh\nexec ${which('ssh')} -F ${folder}/ssh_config "$@"\n`, {
    mode: 0o755,
  });
  const children = new Set<ChildProcess>();
  // The server chooses no port by itself, but serves what another has accepted.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn(program, ['-i', '-f', `${folder}/sshd_config`], {
      stdio: [socket, socket, 'ignore'],
    });
    children.add(child);
    child.once('spawn', () => socket.destroy());
    child.once('exit', () => children.delete(child));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    path: `${folder}/bin:${process.env.PATH}`,
    connections: () => children.size,
    setEnv,
    admit,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const child of children) child.kill();
      await Promise.all([...children].map((child) => once(child, 'exit')));
      if (isOurs) rmdirSync(PRIVILEGES);
    },
  };
}

function writeLines(path: string, lines: readonly string[]): void {
  writeFileSync(path, `${lines.join('\n')}\n`);
}
