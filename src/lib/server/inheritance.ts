/**
 * The environment of what is made from another sandbox. Its backend passes on all variables; those that held a token of the source
 * are empty while it is made, and taken away afterwards.
 */
import type { Sandbox } from '../backend/contract.ts';
import { unhurried } from '../backend/unhurried.ts';
import { SbxError } from '../errors.ts';
import type { Base } from './daemon.ts';

type Variables = Readonly<Record<string, string>>;

export interface Inheritance {
  /** What it is made with. */
  readonly env: Variables;
  /** To be called when it is made. A failure is told to the operator: the variables stay empty. */
  finish(base: Pick<Base, 'notice'>, find: () => Promise<Sandbox>): Promise<void>;
}

/** Names of variables that are not passed on. */
export function withheldFrom(env: Variables, own: Variables): string[] {
  return Object.keys(env).filter((name) => !Object.hasOwn(own, name));
}

/** @param env what it is to have */
export function inheritance(withheld: readonly string[], env: Variables): Inheritance {
  const names = withheld.filter((name) => !Object.hasOwn(env, name));
  const all = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
  return {
    env: { ...all(''), ...env },
    async finish({ notice }, find) {
      if (names.length === 0) return;
      try {
        await (await find()).can.env?.update(all(null), unhurried);
      } catch (error) {
        if (!(error instanceof SbxError)) throw error;
        notice(`cannot take ${names.join(', ')} from a new sandbox, where they are empty: ${error.message}`);
      }
    },
  };
}
