/** Code contexts, and running code in them or for once. */
import Type from 'typebox';
import { codeResult, languages } from '../code.ts';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const language = Type.Enum([...languages], { refusal: "language must be 'python' or 'javascript'" });
const context = Type.Object({
  contextId: Type.String(),
  language,
  createdAt: Type.String({ format: 'date-time' }),
});
const runBody = Type.Object({
  code: Type.String({ refusal: 'code is required' }),
  contextId: Type.Optional(Type.String()),
  language: Type.Optional(language),
  timeoutMs: Type.Optional(Type.Number({ minimum: 0, maximum: DAY_MS })),
});

export function codeRoutes({ fleet, code }: Daemon): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/code-contexts',
      summary: 'start an interpreter that keeps what is defined',
      body: Type.Object({ language: Type.Optional(language) }),
      answers: { 201: { description: 'the context', body: context } },
      async handle({ params, body, signal, json }) {
        using use = await fleet.use(params.id ?? '', { signal });
        json(201, await code.make(use, body.language ?? 'python', { signal }));
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/code-contexts',
      summary: 'its code contexts',
      answers: { 200: { description: 'them', body: Type.Object({ contexts: Type.Array(context) }) } },
      handle: ({ params, json }) => json(200, { contexts: code.list(fleet.get(params.id ?? '').id) }),
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id/code-contexts/:ctxId',
      summary: 'end a code context',
      missing: 'context not found',
      answers: {
        200: {
          description: 'it is gone',
          body: Type.Object({ contextId: Type.String(), destroyed: Type.Literal(true) }),
        },
      },
      async handle({ params, signal, json }) {
        const { id } = fleet.get(params.id ?? '');
        const contextId = params.ctxId ?? '';
        if (!(await code.remove(id, contextId, () => fleet.look(id, { signal }))))
          throw new HttpRefusal(404, 'context not found');
        json(200, { contextId, destroyed: true });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/run-code',
      summary: 'run code in a context, or in an interpreter for this run alone',
      body: runBody,
      answers: { 200: { description: 'what came of it, also when it failed', body: codeResult } },
      async handle({ params, body, signal, json }) {
        const { contextId, language = 'python', timeoutMs = DEFAULT_TIMEOUT_MS } = body;
        using use = await fleet.use(params.id ?? '', { signal });
        if (contextId !== undefined && code.get(use.record.id, contextId) === undefined)
          throw new HttpRefusal(404, 'context not found');
        const patience = Math.max(1, Math.ceil(timeoutMs / 1000)) * 1000;
        const result =
          contextId === undefined
            ? await code.runOnce(use, language, body.code, patience, { signal })
            : await code.run(use, contextId, body.code, patience, { signal });
        json(200, result);
      },
    }),
  ];
}
