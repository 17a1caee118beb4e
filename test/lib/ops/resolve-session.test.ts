import { expect, test } from 'vitest';
import type { Sandbox, SessionInfo } from '../../../src/lib/backend/contract.ts';
import type { ResolveContext } from '../../../src/lib/ops/resolve-sandbox.ts';
import { resolveSession } from '../../../src/lib/ops/resolve-session.ts';
import { scripted } from '../../support/scripted.ts';

const call = { signal: new AbortController().signal };
const now = new Date('2026-01-01T01:00:00Z');

function sandboxWith(...sessions: readonly SessionInfo[]) {
  let lists = 0;
  const sandbox = {
    name: 'box',
    backend: 'memory',
    can: {
      sessions: {
        list: async () => {
          lists++;
          return sessions;
        },
      },
    },
  } as unknown as Sandbox;
  return { sandbox, lists: () => lists };
}

function contextWith(prompter: Awaited<ReturnType<ResolveContext['prompter']>>) {
  const said: string[] = [];
  const context = {
    env: {},
    settings: { backend: undefined },
    logger: { info: (text: string) => void said.push(text), warn: (text: string) => void said.push(text) },
    clock: { now: () => now },
    prompter: async () => prompter,
    backends: async () => ({ having: () => ['memory'] }),
  } as unknown as ResolveContext;
  return { context, said };
}

const nobody = { ...scripted(), canAsk: false };
const main: SessionInfo = {
  name: 'main',
  state: 'running',
  attached: true,
  createdAt: '2026-01-01T00:00:00Z',
  command: 'vim',
  workdir: '/src',
};
const build: SessionInfo = { name: 'build', state: 'running' };
const old: SessionInfo = { name: 'old', state: 'ended' };

test('one that is named is taken as it is, without a look', async () => {
  const { sandbox, lists } = sandboxWith();
  const { context } = contextWith(nobody);
  expect(await resolveSession(context, sandbox, 'x', call, { verb: 'sessions kill' })).toBe('x');
  expect(lists()).toBe(0);
});

test('the only running one is taken where that destroys nothing, and said', async () => {
  const { sandbox } = sandboxWith(old, main);
  const { context, said } = contextWith(nobody);
  const options = { verb: 'sessions attach', obvious: true };
  expect(await resolveSession(context, sandbox, undefined, call, options)).toBe('main');
  expect(said).toEqual(["using session 'main', the only one of sandbox 'box'"]);
});

test('a verb that destroys always asks, with what is known of each', async () => {
  const { sandbox } = sandboxWith(main, old);
  const prompter = scripted('main');
  const { context } = contextWith(prompter);
  expect(await resolveSession(context, sandbox, undefined, call, { verb: 'sessions kill' })).toBe('main');
  expect(prompter.asked[0]?.choices).toEqual(['main: attached, 1h, vim, /src']);
});

test('ended ones are offered where they can be used', async () => {
  const { sandbox } = sandboxWith(main, build, old);
  const prompter = scripted('old');
  const { context } = contextWith(prompter);
  const options = { verb: 'sessions kill', ended: true };
  expect(await resolveSession(context, sandbox, undefined, call, options)).toBe('old');
  expect(prompter.asked[0]?.choices).toEqual(['main: attached, 1h, vim, /src', 'build: ', 'old: ended']);
});

test('without a terminal it is an error of usage with the command; with no session there is nothing to choose', async () => {
  const { sandbox } = sandboxWith(main, build);
  const { context } = contextWith(nobody);
  for (const obvious of [true, false]) {
    await expect(
      resolveSession(context, sandbox, undefined, call, { verb: 'sessions kill', obvious }),
    ).rejects.toMatchObject({
      code: 'usage',
      message: "no session of sandbox 'box' is named",
      hint: 'sbx sessions kill box SESSION; see them: sbx sessions box',
    });
  }
  await expect(
    resolveSession(context, sandbox, undefined, call, { verb: 'exec', flag: '--session' }),
  ).rejects.toMatchObject({ hint: 'sbx exec box --session SESSION; see them: sbx sessions box' });
  const empty = sandboxWith(old);
  await expect(
    resolveSession(contextWith(scripted()).context, empty.sandbox, undefined, call, {
      verb: 'sessions kill',
    }),
  ).rejects.toMatchObject({ code: 'not_found', hint: 'start one: sbx shell box' });
});
