/** Values that fit a JSON schema, nearly fit it, or do not at all. */
import type { Chance } from './chance.ts';

export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Text that programs have taken for something else. None of it does harm outside of a sandbox. */
export const ODD_TEXT: readonly string[] = [
  ...['', ' ', '0', '-1', 'NaN', 'null', 'true', 'exit 3', 'x'.repeat(5000)],
  ...['\0', '\n', '\r\nX: y', '\u2028', '\ud800', '\u{1f600}', '%00', '%2e%2e%2f', '%', '\\'],
  ...['.', '..', '/', '//', '../../etc/passwd', '/workspace', '/workspace/file', '/proc/self/environ', '~'],
  ...['$(id)', '`id`', "'; id #", '-rf', '--help', '<script>', '{}', '*', '?', '#'],
  ...['__proto__', 'constructor', 'toString', 'KEY', 'A=b', '2090-01-01', '1e400', '0x10', '127.0.0.1'],
];

const ODD_NUMBERS = [0, -0, 1, -1, 0.5, 22, 65_535, 65_536, 2 ** 31, 2 ** 53, -1e300, 1e300, 5e-324];

const SHORT = 4;

/** A value of the shape, but that its text and numbers may be refused for what they are. */
export function fitting(schema: Schema, chance: Chance): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  if (schema.anyOf !== undefined) return fitting(chance.pick(schema.anyOf), chance);
  switch (schema.type) {
    case 'string':
      return chance.pick(ODD_TEXT);
    case 'integer':
    case 'number':
      return chance.pick(ODD_NUMBERS);
    case 'boolean':
      return chance.is(0.5);
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: chance.below(SHORT) }, () => fitting(schema.items ?? {}, chance));
    case 'object':
      return object(schema, chance);
    default:
      return wrong(chance);
  }
}

function object({ properties, required = [] }: Schema, chance: Chance): Readonly<Record<string, unknown>> {
  if (properties === undefined) {
    const names = Array.from({ length: chance.below(SHORT) }, () => chance.pick(ODD_TEXT));
    return Object.fromEntries(names.map((name) => [name, chance.pick(ODD_TEXT)]));
  }
  const chosen = Object.entries(properties).filter(([name]) =>
    chance.is(required.includes(name) ? 0.95 : 0.2),
  );
  const fields = chosen.map(([name, each]) => [
    name,
    chance.is(0.15) ? wrong(chance) : fitting(each, chance),
  ]);
  return Object.fromEntries(fields);
}

/** A value of any type. */
export function wrong(chance: Chance): unknown {
  return chance.pick<() => unknown>([
    () => null,
    () => chance.is(0.5),
    () => chance.pick(ODD_NUMBERS),
    () => chance.pick(ODD_TEXT),
    () => [],
    () => ({}),
    () => [chance.pick(ODD_TEXT), 5, null],
    () => ({ [chance.pick(ODD_TEXT)]: { a: [{}] } }),
  ])();
}

const DEEP = 20_000;

/** A body for `schema`: mostly an object that nearly fits, else anything. */
export function bodyOf(schema: Schema, chance: Chance): Buffer {
  const near = () => JSON.stringify(fitting(schema, chance));
  const bytes = (text: string) => Buffer.from(text);
  if (chance.is(0.6)) return bytes(near());
  return chance.pick<() => Buffer>([
    () => bytes(''),
    () => bytes(JSON.stringify(wrong(chance))),
    () => bytes(near().slice(0, chance.below(20))),
    () => bytes(`${near()}}`),
    () => bytes('['.repeat(DEEP)),
    () => bytes(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`),
    () => bytes(`{"env":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}`),
    () => bytes(`{"command":[${'[],'.repeat(DEEP)}1]}`),
    () => bytes(`{"path":"${'x/'.repeat(100_000)}","content":1e999}`),
    () => bytes('{"__proto__":{"command":"true"},"constructor":{"prototype":{}}}'),
    () => bytes('{"command":"\\ud800","command":5}'),
    () => Buffer.concat([bytes('{"path":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), bytes('"}')]),
    () => bytes(' '.repeat(200_000)),
  ])();
}
