import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxState } from '../../../src/lib/backend/contract.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { parseWaitCondition, waitFor, waitText } from '../../../src/lib/ops/wait.ts';

const call = { signal: new AbortController().signal };
const having = () => ['other'];

/** A sandbox whose state is another one at each look; the last one stays, and `gone` is not found. */
function sandboxIn(states: (SandboxState | 'gone')[], can: Sandbox['can'] = {}): Sandbox {
  return {
    id: '1',
    name: 'box',
    backend: 'b',
    can,
    exec: async () => Promise.reject(new Error('not asked')),
    async info() {
      const state = states.length > 1 ? states.shift() : states[0];
      if (state === undefined || state === 'gone') throw new SbxError('not_found', 'gone');
      return { id: '1', name: 'box', backend: 'b', state, createdAt: '2026-01-01T00:00:00Z', labels: {} };
    },
  };
}

describe('parseWaitCondition', () => {
  it.each(['running', 'stopped', 'port:3000', 'process:main', 'process:a:b'])('reads %s back', (text) => {
    expect(waitText(parseWaitCondition(text, '--for'))).toBe(text);
  });
  it.each(['', 'port', 'port:', 'port:0', 'port:x', 'process:', 'paused', 'port:1:2'])(
    'refuses %j',
    (text) => {
      expect(() => parseWaitCondition(text, '--for')).toThrow(SbxError);
    },
  );
});

describe('waitFor', () => {
  it('looks until it holds', async () => {
    await waitFor(sandboxIn(['creating', 'creating', 'running']), { kind: 'running' }, { having }, call);
    await waitFor(sandboxIn(['running', 'paused', 'stopped']), { kind: 'stopped' }, { having }, call);
  });

  it.each(['failed', 'gone'] as const)('counts %s as stopped, and gives up on running', async (state) => {
    await waitFor(sandboxIn(['running', state]), { kind: 'stopped' }, { having }, call);
    await expect(waitFor(sandboxIn([state]), { kind: 'running' }, { having }, call)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('gives up on a port when the sandbox has stopped', async () => {
    const ports = { list: async () => [] };
    await expect(
      waitFor(sandboxIn(['stopped'], { ports }), { kind: 'port', port: 80 }, { having }, call),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: "sandbox 'box' does not run: port:80 will not come",
    });
  });

  it('says at once that a backend cannot tell', async () => {
    await expect(
      waitFor(sandboxIn(['running']), { kind: 'port', port: 80 }, { having }, call),
    ).rejects.toMatchObject({
      code: 'unsupported',
      hint: 'backends that do: other',
    });
  });

  it('ends when the time is up or it is interrupted', async () => {
    await expect(
      waitFor(sandboxIn(['running']), { kind: 'stopped' }, { having, timeoutMs: 20 }, call),
    ).rejects.toMatchObject({ code: 'timeout' });
    const controller = new AbortController();
    const waiting = waitFor(
      sandboxIn(['running']),
      { kind: 'stopped' },
      { having },
      { signal: controller.signal },
    );
    controller.abort(new DOMException('stop', 'AbortError'));
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
