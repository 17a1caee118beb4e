/** What a stop takes away and a start asks for. */
import { expect } from 'vitest';
import { servedApi, test } from './served-api.ts';

const { api, restart } = servedApi({ memoryBudgetMb: 100 });

const make = async (body: object) => (await api.answer<{ id: string }>(201, 'POST /sandboxes', body)).id;

test('files of one that does not persist are gone after a stop, and its setup is done anew', async () => {
  const id = await make({ persist: false, memoryMb: 20, setup: ['echo made > setup'], env: { A: '1' } });
  const to = `/sandboxes/${id}` as const;
  await api.answer(200, `POST ${to}/env`, { env: { B: '2' } });
  await api.say(id, 'echo x > file; echo changed > setup; echo y > /tmp/other');
  await api.answer(200, `POST ${to}/pause`);
  expect(await api.say(id, 'cat file')).toBe('x');
  const stopped = await api.answer<object>(200, `POST ${to}/stop`);
  // The server that starts it need not be the one that made it.
  await restart();
  expect(await api.answer(200, `POST ${to}/start`)).toStrictEqual({
    ...stopped,
    status: 'running',
    lastActivityAt: expect.any(String),
  });
  expect(await api.say(id, 'ls; cat setup; echo $A$B; ls /tmp')).toBe('setup\nmade\n12');
  await api.answer(200, `DELETE ${to}`);
});

test('files of one that persists stay', async () => {
  const id = await make({ memoryMb: 20 });
  await api.say(id, 'echo x > file');
  await api.answer(200, `POST /sandboxes/${id}/stop`);
  await api.answer(200, `POST /sandboxes/${id}/start`);
  expect(await api.say(id, 'cat file')).toBe('x');
  await api.answer(200, `DELETE /sandboxes/${id}`);
});

test('a stopped one gives its memory back, and has to ask for it anew', async () => {
  const first = await make({ memoryMb: 60 });
  await api.answer(200, `POST /sandboxes/${first}/pause`);
  expect(await api.answer(200, 'GET /capacity')).toEqual({
    enforced: true,
    budgetMb: 100,
    promisedMb: 60,
    freeMb: 40,
  });
  await api.answer(200, `POST /sandboxes/${first}/stop`);
  const second = await make({ memoryMb: 60 });
  expect(await api.refusal(503, `POST /sandboxes/${first}/start`)).toBe(
    'not enough memory: 60 MB asked for, 40 MB left of 100 MB (60 MB promised)',
  );
  expect(await api.answer(200, `GET /sandboxes/${first}`)).toMatchObject({ status: 'stopped' });
  await api.answer(200, `POST /sandboxes/${second}/stop`);
  await api.answer(200, `POST /sandboxes/${first}/start`);
  expect(await api.refusal(400, 'POST /sandboxes', {})).toMatch(/^memoryMb is required/);
});
