/** The shapes of the API, for checks and for its description. */
import Type from 'typebox';
import { SHORTEST_TTL } from '../backend/spec.ts';
import { askedPolicy } from './egress/policy.ts';

export const strings = Type.Record(Type.String(), Type.String());

/** The longest time that a timer takes, in milliseconds. */
export const LONGEST_MS = 2 ** 31 - 1;

export const port = Type.Integer({ minimum: 1, maximum: 65_535 });

/** Milliseconds that a sandbox lives, at least a second and at most some 30,000 years, which a date can tell. */
export const lifetime = Type.Integer({ minimum: SHORTEST_TTL, maximum: 1e15 });

/** Accepts zero for "none", as the API does. */
const cap = Type.Number({ minimum: 0 });

/** A cap of this name, with the API's own words for what is none. */
const capOf = (name: string) => Type.Number({ minimum: 0, refusal: `${name} must be a non-negative number` });

/** A name of a variable, as shells take them. */
const variable = '^[A-Za-z_][A-Za-z0-9_]*$';

const value = Type.String({ pattern: '^[^\\0]*$' });
const onlyVariables = { additionalProperties: false };

/** Variables and their values. */
export const environment = Type.Record(Type.String({ pattern: variable }), value, onlyVariables);

/** {@link environment}, where null takes one away. */
export const environmentChanges = Type.Record(
  Type.String({ pattern: variable }),
  Type.Union([value, Type.Null()]),
  onlyVariables,
);

export const limits = Type.Object({
  memoryMb: Type.Optional(cap),
  cpus: Type.Optional(cap),
  pidsLimit: Type.Optional(cap),
});

export const usage = Type.Object({
  cpuSeconds: Type.Number(),
  memGbSeconds: Type.Number(),
  egressBytes: Type.Number(),
});

export const sandboxRecord = Type.Object({
  id: Type.String(),
  name: Type.String(),
  image: Type.String(),
  status: Type.Union(['running', 'paused', 'stopped', 'vanished'].map((each) => Type.Literal(each))),
  createdAt: Type.String({ format: 'date-time' }),
  driver: Type.String(),
  labels: strings,
  env: strings,
  persist: Type.Boolean(),
  lastActivityAt: Type.String({ format: 'date-time' }),
  sleepAfterMs: Type.Number(),
  limits,
  egressSpendCapUsd: Type.Number(),
  usage,
  workdir: Type.String(),
  expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
  snapshot: Type.Optional(Type.String()),
  command: Type.Optional(Type.Array(Type.String())),
});

export const createBody = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1 })),
  image: Type.Optional(Type.String()),
  driver: Type.Optional(Type.String()),
  env: Type.Optional(environment),
  labels: Type.Optional(strings),
  persist: Type.Optional(Type.Boolean()),
  setup: Type.Optional(Type.Array(Type.String())),
  repo: Type.Optional(Type.String()),
  repoRef: Type.Optional(Type.String()),
  memoryMb: Type.Optional(capOf('memoryMb')),
  cpus: Type.Optional(capOf('cpus')),
  pidsLimit: Type.Optional(capOf('pidsLimit')),
  sleepAfter: Type.Optional(cap),
  egress: Type.Optional(Type.Union([Type.Boolean(), Type.Null(), askedPolicy])),
  egressSpendCapUsd: Type.Optional(capOf('egressSpendCapUsd')),
  workdir: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
  snapshot: Type.Optional(Type.String({ minLength: 1 })),
  ttl: Type.Optional(lifetime),
  network: Type.Optional(Type.Union(['private', 'host', 'none'].map((each) => Type.Literal(each)))),
  command: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
});

export type CreateBody = Type.Static<typeof createBody>;

export const errorBody = Type.Object({
  error: Type.String(),
  code: Type.Optional(Type.String()),
  hint: Type.Optional(Type.String()),
});
