/** Tokens of the egress gateway: who may spend what. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { askedPolicy, keptPolicy, parsePolicy } from './policy.ts';
import { type EgressToken, newToken } from './tokens.ts';
import { providerAccess } from './wiring.ts';

const granted = { token: Type.String(), policy: keptPolicy };
const providers = Type.Array(providerAccess);

export function egressRoutes({ fleet, egress, backend, now }: Daemon): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/egress-tokens',
      summary: 'make a token for the egress gateway',
      body: askedPolicy,
      answers: {
        201: { description: 'the token, and where to use it', body: Type.Object({ ...granted, providers }) },
      },
      async handle({ params, body, json }) {
        const { id, name, driver, status } = fleet.get(params.id ?? '');
        const policy = parsePolicy(body, now());
        const place = await backend(driver);
        const token = newToken(id);
        egress.tokens.put(id, { token, policy, spendUsd: 0 });
        if (status === 'running') await egress.reach(id, (call) => place.get(name, call));
        json(201, { token, policy, providers: egress.access(place) });
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/egress-tokens',
      summary: 'its tokens for the egress gateway, with what was spent',
      answers: {
        200: {
          description: 'them, and where to use them; without a cap any amount remains',
          body: Type.Object({
            tokens: Type.Array(
              Type.Object({
                ...granted,
                spendUsd: Type.Number(),
                spendRemaining: Type.Union([Type.Number(), Type.Null()]),
              }),
            ),
            providers,
          }),
        },
      },
      async handle({ params, json }) {
        const { id, driver } = fleet.get(params.id ?? '');
        json(200, {
          tokens: egress.tokens.list(id).map(shown),
          providers: egress.access(await backend(driver)),
        });
      },
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id/egress-tokens/:token',
      summary: 'revoke a token for the egress gateway',
      answers: {
        200: {
          description: 'it is of no use any more',
          body: Type.Object({ token: Type.String(), revoked: Type.Literal(true) }),
        },
      },
      handle({ params, json }) {
        const { token = '' } = params;
        if (!egress.tokens.revoke(fleet.get(params.id ?? '').id, token))
          throw new HttpRefusal(404, 'token not found');
        json(200, { token, revoked: true });
      },
    }),
  ];
}

function shown({ token, policy, spendUsd }: EgressToken): object {
  const { spendCapUsd } = policy;
  return {
    token,
    policy,
    spendUsd,
    spendRemaining: spendCapUsd === undefined ? null : Math.max(0, spendCapUsd - spendUsd),
  };
}
