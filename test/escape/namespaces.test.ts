import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { planNetwork } from '../../src/lib/backends/local/network.ts';
import { call, countInside, say, uniqueSleep } from '../conformance/harness.ts';
import { requireOrSkip } from '../support/require.ts';
import { caged, HOSTILES, openCage, succeeds } from './cage.ts';

const cage = openCage();

describe('namespaces', () => {
  for (const user of HOSTILES) {
    caged(`${user} gets no user namespace, in which it would have every capability`, async () => {
      const sandbox = await cage.shared();
      for (const flags of ['-U', '-Ur', '-Urm', '-UrpfC'])
        expect(await succeeds(sandbox, `unshare ${flags} true`, { user })).toMatchObject({
          ok: false,
        });
    });
  }

  caged('the limit that says so cannot be raised', async () => {
    const attempt = 'echo 100 > /proc/sys/user/max_user_namespaces';
    expect(await succeeds(await cage.shared(), attempt)).toMatchObject({ ok: false });
    expect(await say(await cage.shared(), 'cat /proc/sys/user/max_user_namespaces')).toBe('0');
  });

  caged('no other namespace can be made, and none of the others be entered', async () => {
    const sandbox = await cage.shared();
    for (const flag of ['-m', '-p -f', '-n', '-i', '-u', '-C'])
      expect(await succeeds(sandbox, `unshare ${flag} true`)).toMatchObject({ ok: false });
    for (const flag of ['-m', '-n', '-U', '-C'])
      expect(await succeeds(sandbox, `nsenter -t 1 ${flag} true`)).toMatchObject({ ok: false });
  });
});

describe('mounts', () => {
  for (const attempt of [
    'mount -t tmpfs none /media',
    'mount -t proc none /media',
    'mount -t sysfs none /media',
    'mount -t cgroup -o devices none /media',
    'mount -t cgroup2 none /media',
    'mount --bind / /media',
    'mount -o remount,rw,bind /proc/sys',
    'mount -o remount,rw /.sbx-tools',
    'umount /.sbx',
    'umount -l /proc/sysrq-trigger',
    'umount -l /etc/hosts',
    'pivot_root / /mnt',
  ]) {
    caged(`${attempt} fails`, async () => {
      expect(await succeeds(await cage.shared(), attempt)).toMatchObject({ ok: false });
    });
  }

  caged('what is kept from the sandbox stays covered', async () => {
    const sandbox = await cage.shared();
    expect(await say(sandbox, 'ls -A /.sbx', { workdir: '/' })).toBe('');
    for (const attempt of ['mv /.sbx /x', 'rmdir /.sbx', 'ls /.sbx/state', 'touch /.sbx/x'])
      expect(await succeeds(sandbox, attempt)).toMatchObject({ ok: false });
  });

  caged('the programs that bring others in cannot be changed or moved away', async () => {
    const sandbox = await cage.shared();
    for (const attempt of [
      'touch /.sbx-tools/x',
      'touch /.sbx-tools/usr/x',
      'rm -f /.sbx-tools/usr/bin/setpriv; test ! -e /.sbx-tools/usr/bin/setpriv',
      ': >> /.sbx-tools/usr/bin/env',
      'rm -f /.sbx-tools/lib64 && test ! -L /.sbx-tools/lib64',
      'mv /.sbx-tools /x',
      'rmdir /.sbx-tools',
      'ln -sfn /tmp /.sbx-tools && test -L /.sbx-tools',
    ])
      expect(await succeeds(sandbox, attempt)).toMatchObject({ ok: false });
  });

  caged('the program of process 1 cannot be written to', async () => {
    // It is this machine's shell; while it runs the kernel may refuse for another reason, so the mount is asked, too.
    for (const attempt of [': >> /proc/1/exe', 'test -w /proc/1/exe'])
      expect(await succeeds(await cage.shared(), attempt)).toMatchObject({ ok: false });
  });
});

describe('the root', () => {
  caged('/proc/1/root and /proc/1/cwd are the inside', async () => {
    const sandbox = await cage.shared();
    for (const name of ['root', 'cwd'])
      expect(
        await succeeds(sandbox, `test /proc/1/${name} -ef / && test ! -e "/proc/1/${name}/$1"`, {
          args: [join(cage.outside, 'secret')],
        }),
      ).toMatchObject({ ok: true });
  });

  caged('the way out of a chroot ends at the inside', async () => {
    const program = [
      'mkdir "/tmp/jail"; opendir(D, "/") or die; chroot("/tmp/jail") or die "$!"',
      'chdir(*D) or die; chdir("..") for 1 .. 64; chroot(".") or die "$!"',
      'print -e "/.sbx-tools" ? "inside" : "elsewhere", -e $ARGV[0] ? " and out" : ""',
    ].join(';');
    const said = await say(await cage.shared(), `exec perl -e '${program}' ${join(cage.outside, 'secret')}`);
    expect(said).toBe('inside');
  });

  caged('no descriptor leads to a folder of this machine', async () => {
    const list =
      'for fd in /proc/self/fd/* /proc/1/fd/*; do [ -d "$fd/" ] && [ ! "$fd/" -ef /proc/self/fd ] && readlink "$fd"; done; true';
    expect(await say(await cage.shared(), list, { workdir: '/' })).toBe('');
  });
});

describe('processes', () => {
  caged('those of this machine can be neither seen nor killed', async () => {
    const word = uniqueSleep();
    const victim = spawn('sleep', [word], { stdio: 'ignore' });
    onTestFinished(() => void victim.kill());
    const sandbox = await cage.make();
    expect(await countInside(sandbox, word)).toBe(0);
    for (const pid of [victim.pid, process.pid, process.ppid])
      expect(await succeeds(sandbox, `kill -0 ${pid}`)).toMatchObject({ ok: false });
    // Everything that it may kill, its own watcher included.
    await sandbox.exec({ argv: ['sh', '-c', 'kill -9 -1'], stdin: 'none' }, call).then((running) => {
      running.stdout?.resume();
      running.stderr?.resume();
      return running.wait();
    });
    expect(victim.exitCode).toBeNull();
    expect(victim.signalCode).toBeNull();
    expect(existsSync(`/proc/${victim.pid}`)).toBe(true);
    expect(await say(sandbox, 'kill -9 1; echo still here')).toBe('still here');
    expect((await sandbox.info(call)).state).toBe('running');
  });
});

const tool = planNetwork(undefined).mode === 'private';
describe('the network', () => {
  for (const network of ['none', 'private'] as const) {
    requireOrSkip(network === 'none' || tool, 'pasta or slirp4netns and /dev/net/tun')(
      `with network ${network} neither loopback nor abstract sockets of this machine are in reach`,
      async () => {
        const name = `sbx-escape-${process.pid}-${network}`;
        const port = await listening({ port: 0, host: '127.0.0.1' });
        await listening({ path: `\0${name}` });
        const sandbox = await cage.make({ network });
        const tcp = (host: string) =>
          `perl -MSocket -e 'socket(S, 2, 1, 0); alarm 2; connect(S, sockaddr_in(${port}, inet_aton("${host}"))) or die'`;
        for (const host of ['127.0.0.1', '10.0.2.2', '169.254.99.53'])
          expect(await succeeds(sandbox, tcp(host))).toMatchObject({ ok: false });
        const unix = `perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, pack_sockaddr_un("\\0${name}")) or die'`;
        expect(await succeeds(sandbox, unix)).toMatchObject({ ok: false });
      },
    );
  }

  async function listening(place: { port: number; host: string } | { path: string }): Promise<number> {
    const server = createServer((socket) => socket.end());
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(place, resolve);
    });
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }
});
