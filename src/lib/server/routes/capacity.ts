/** How much the machine can still take. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';

const state = Type.Union([
  Type.Object({ enforced: Type.Literal(false) }),
  Type.Object({
    enforced: Type.Literal(true),
    budgetMb: Type.Number(),
    promisedMb: Type.Number(),
    freeMb: Type.Number(),
  }),
]);

export function capacityRoutes({ capacity }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/capacity',
      summary: 'what is left of the budget of memory',
      answers: { 200: { description: '`enforced` is false without a budget', body: state } },
      handle: ({ json }) => json(200, capacity.state() ?? { enforced: false }),
    }),
  ];
}
