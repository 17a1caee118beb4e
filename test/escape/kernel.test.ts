import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { say, sh } from '../conformance/harness.ts';
import { asRoot } from '../support/require.ts';
import { caged, calling, HOSTILES, openCage, succeeds, syscallNumber } from './cage.ts';

const cage = openCage();

/** The errno of a system call made inside, 0 when it succeeded. */
async function errnoOf(
  name: Parameters<typeof syscallNumber>[0],
  args: string,
  user = 'root',
  preparation = '',
): Promise<string> {
  const program = `${preparation}; $! = 0; syscall(${syscallNumber(name)}, ${args}) == -1 or $! = 0; print $!+0`;
  return (
    await sh(await cage.shared(), 'exec perl -e "$1"', { args: [program], user, workdir: '/' })
  ).stdout.toString();
}

const EPERM = '1';
const ENOSYS = '38';

describe('devices', () => {
  caged('no device node can be made', async () => {
    const sandbox = await cage.shared();
    for (const node of ['b 8 0', 'b 254 0', 'c 1 1', 'c 1 11', 'c 10 237'])
      expect(await succeeds(sandbox, `mknod /tmp/node ${node}`)).toMatchObject({ ok: false });
  });

  caged('/dev holds no device but the harmless ones', async () => {
    const names = await say(
      await cage.shared(),
      'for f in /dev/* /dev/*/*; do { [ -c $f ] || [ -b $f ]; } && [ ! -L $f ] && echo $f; done | sort',
      { workdir: '/' },
    );
    expect(names.split('\n')).toEqual(
      ['full', 'null', 'pts/ptmx', 'random', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`),
    );
  });

  asRoot()(
    'a device node of this machine cannot be opened through a folder that the sandbox sees',
    async () => {
      const folder = mkdtempSync('/var/tmp/sbx-escape-');
      chmodSync(folder, 0o755);
      try {
        execFileSync('mknod', ['-m', '666', join(folder, 'zero'), 'c', '1', '5']);
        const sandbox = await cage.make();
        expect(await succeeds(sandbox, `test -c ${folder}/zero`)).toMatchObject({ ok: true });
        expect(await succeeds(sandbox, `head -c 1 ${folder}/zero`)).toMatchObject({ ok: false });
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

describe('/proc', () => {
  for (const user of HOSTILES) {
    caged(`${user} cannot change how this machine handles crashes`, async () => {
      const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
      const attempt = await succeeds(
        await cage.shared(),
        "echo '|/tmp/evil' > /proc/sys/kernel/core_pattern",
        { user },
      );
      expect(attempt).toMatchObject({ ok: false });
      expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
    });
  }

  caged('nothing that acts on this machine is writable', async () => {
    // As root of this machine the sandbox owns these files, so only the mounts keep it from writing.
    const found = await say(
      await cage.shared(),
      'for f in sys bus fs irq sysrq-trigger dynamic_debug scsi acpi; do [ -e /proc/$f ] && find /proc/$f -type f -writable; done; true',
      { workdir: '/' },
    );
    expect(found).toBe('');
    expect(await succeeds(await cage.shared(), 'echo h > /proc/sysrq-trigger')).toMatchObject({ ok: false });
  });

  caged('memory, keys and timers of this machine cannot be read', async () => {
    for (const name of ['kcore', 'keys', 'timer_list', 'kmsg'])
      expect(
        (await sh(await cage.shared(), `head -c 64 /proc/${name}`, { workdir: '/' })).stdout,
      ).toHaveLength(0);
  });

  caged('there is no /sys', async () => {
    expect(await say(await cage.shared(), 'ls -A /sys', { workdir: '/' })).toBe('');
  });
});

describe('system calls that act on this machine', () => {
  // Each would do no harm if it got through.
  calling('reboot, kexec, modules and accounting are refused', async () => {
    expect(await errnoOf('reboot', '0xfee1dead, 672274793, 0, 0')).toBe(EPERM);
    expect([EPERM, ENOSYS]).toContain(await errnoOf('kexec_load', '0, 0, 0, 0'));
    expect([EPERM, ENOSYS]).toContain(await errnoOf('init_module', '0, 0, 0'));
    expect([EPERM, ENOSYS]).toContain(await errnoOf('acct', '0'));
  });

  caged('the clock cannot be set and swap cannot be turned on', async () => {
    const sandbox = await cage.shared();
    expect(await succeeds(sandbox, 'date -s "@$(date +%s)"')).toMatchObject({ ok: false });
    expect(
      await succeeds(
        sandbox,
        'head -c 1048576 /dev/zero > /tmp/swap; chmod 600 /tmp/swap; /usr/sbin/mkswap /tmp/swap; /usr/sbin/swapon /tmp/swap',
      ),
    ).toMatchObject({ ok: false });
  });

  calling('files of this machine cannot be opened by their number', async () => {
    // ext4's root is inode 2; the file systems of these two are this machine's own.
    for (const place of ['/etc/hosts', '/var/lib/sbx', '/usr']) {
      const handle = `open(D, "<", "${place}") or die; $h = pack("Iiq", 8, 1, 2)`;
      expect(await errnoOf('open_by_handle_at', 'fileno(D), $h, 0x10000', 'root', handle)).toBe(EPERM);
      expect(await errnoOf('open_by_handle_at', 'fileno(D), $h, 0', 'root', handle)).toBe(EPERM);
    }
  });

  caged('packets cannot be made by hand on the network of this machine', async () => {
    const sandbox = await cage.make({ network: 'host' });
    for (const socket of ['17, 3, 0', '2, 3, 1'])
      expect(await succeeds(sandbox, `perl -e 'socket(S, ${socket}) or die "$!"'`)).toMatchObject({
        ok: false,
      });
  });
});

describe('privileges', () => {
  for (const user of HOSTILES) {
    caged(`${user} has no capability beyond the few, and can gain none`, async () => {
      const status = await say(await cage.shared(), 'cat /proc/self/status', { workdir: '/', user });
      const set = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`);
      // What container engines leave, too.
      for (const name of ['CapPrm', 'CapEff', 'CapBnd']) expect(set(name) & ~0xa80425fbn).toBe(0n);
      for (const name of ['CapInh', 'CapAmb']) expect(set(name)).toBe(0n);
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    });
  }

  caged('process 1 has no capability beyond the few either', async () => {
    const status = await say(await cage.shared(), 'cat /proc/1/status', { workdir: '/' });
    expect(status).toMatch(/^CapEff:\s*00000000a80425fb$/m);
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
  });

  caged('a setuid program gives a plain user nothing', async () => {
    const sandbox = await cage.make();
    await say(sandbox, 'cp "$(readlink -f /usr/bin/id)" /tmp/id && chmod 4755 /tmp/id', { workdir: '/' });
    if (HOSTILES.includes('nobody'))
      expect(await say(sandbox, '/tmp/id -u', { user: 'nobody', workdir: '/' })).toBe('65534');
  });
});
