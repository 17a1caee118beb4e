/** What of this machine and of the client must not be seen inside, nor by others on this machine. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { call, countOnThisMachine, say, sh, untilReady } from '../conformance/harness.ts';
import { asRoot } from '../support/require.ts';
import { caged, HOSTILES, openCage, succeeds } from './cage.ts';

// In a folder that sandboxes see; before the first one is made, which is when sbx looks what others may not read.
const place = mkdtempSync('/var/tmp/sbx-escape-');
chmodSync(place, 0o755);
afterAll(() => rmSync(place, { recursive: true, force: true }));
writeFileSync(join(place, 'open'), 'open', { mode: 0o644 });
writeFileSync(join(place, 'closed'), 'hidden', { mode: 0o600 });
writeFileSync(join(place, 'group'), 'hidden', { mode: 0o640 });
writeFileSync(join(place, 'a name\nwith a line'), 'hidden', { mode: 0o600 });
mkdirSync(join(place, 'folder'), { mode: 0o700 });
writeFileSync(join(place, 'folder/inner'), 'hidden', { mode: 0o644 });

const cage = openCage();
const inVar = openCage('/var/tmp');

describe('files of this machine', () => {
  for (const user of HOSTILES) {
    caged(`${user} reads none that others may not read`, async () => {
      const sandbox = await cage.shared();
      expect(await say(sandbox, 'cat open', { workdir: place, user })).toBe('open');
      const { stdout } = await sh(sandbox, 'cat closed group folder/* a*', { workdir: place, user });
      expect(stdout.toString()).toBe('');
    });
  }

  caged('they cannot be changed', async () => {
    const sandbox = await cage.make();
    await say(
      sandbox,
      'echo changed > open; rm -f /etc/hostname2 /etc/passwd; echo x > /usr/local/bin/sbx-escape',
      { workdir: place },
    );
    expect(readFileSync(join(place, 'open'), 'utf8')).toBe('open');
    expect(existsSync('/etc/passwd')).toBe(true);
    expect(existsSync('/usr/local/bin/sbx-escape')).toBe(false);
  });

  asRoot()('there are no password hashes and no keys of its ssh server', async () => {
    const sandbox = await cage.shared();
    const shadow = await say(sandbox, 'cat /etc/shadow /etc/gshadow', { workdir: '/' });
    for (const line of shadow.split('\n')) expect(line.split(':')[1]).toBe('*');
    for (const file of ['/etc/shadow-', '/etc/gshadow-', '/etc/sudoers'])
      expect(await succeeds(sandbox, `cat ${file}`)).toMatchObject({ ok: false });
    expect(await say(sandbox, 'ls /etc/ssh/*_key 2>/dev/null; true', { workdir: '/' })).toBe('');
  });

  caged('homes, /run and /srv are the sandbox’s own', async () => {
    const sandbox = await cage.make();
    expect(
      await say(sandbox, 'ls -A /home /run /srv /media /boot | grep -v :$ | grep .; true', { workdir: '/' }),
    ).toBe('');
    const mine = readdirSync(homedir()).filter((name) => !existsSync(join('/etc/skel', name)));
    for (const name of mine)
      expect(await succeeds(sandbox, 'test -e "$1"', { args: [join(homedir(), name)] })).toMatchObject({
        ok: false,
      });
  });

  caged('the state of sbx is not seen, wherever it lies', async () => {
    for (const { state, make } of [cage, inVar]) {
      const sandbox = await make({ env: { TOKEN: 'of-the-other' } });
      expect(
        (await sh(sandbox, 'ls -A "$1"', { args: [join(state, 'local')], workdir: '/' })).stdout.toString(),
      ).toBe('');
      const found = await say(
        sandbox,
        'find / -xdev -name record.json 2>/dev/null; find /var -name record.json 2>/dev/null; true',
        { workdir: '/' },
      );
      expect(found).toBe('');
    }
  });
});

describe('secrets of the client', () => {
  caged('its environment does not get in', async () => {
    process.env.SBX_ESCAPE_TOKEN = 'of-the-client';
    try {
      const sandbox = await cage.make();
      expect(await say(sandbox, 'cat /proc/*/environ | tr "\\\\0" "\\\\n"', { workdir: '/' })).not.toContain(
        'of-the-client',
      );
    } finally {
      delete process.env.SBX_ESCAPE_TOKEN;
    }
  });

  caged('what is given to a sandbox or to a command stands in no argument list of this machine', async () => {
    const sandbox = await cage.make({ env: { TOKEN: 'sandbox-token-4711' } });
    const started = await untilReady(
      sandbox,
      'test "$(printf %s "$TOKEN$MORE" | wc -c)" -eq 36 && echo ready; exec sleep 100',
      {
        env: { MORE: 'command-token-4711' },
      },
    );
    for (const word of ['sandbox-token-4711', 'command-token-4711'])
      expect(await countOnThisMachine(word)).toBe(0);
    await started.running.terminate(0);
    await started.running.wait();
    const folder = join(cage.state, 'local/sandboxes', sandbox.id);
    expect(statSync(join(folder, 'record.json')).mode & 0o077).toBe(0);
    expect(JSON.stringify(await sandbox.info(call))).not.toContain('token-4711');
  });
});
