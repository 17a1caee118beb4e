/** Skips that are honest: counted with their reason, and failures where everything must run. */
import { test } from 'vitest';

/** Declares a test. */
type Declare = (name: string, body: () => unknown, timeout?: number) => void;

/**
 * `test` when `condition` holds; else a test that is skipped and says in its name what it needs, or, with
 * `SBX_TEST_REQUIRE=all`, fails.
 */
export function requireOrSkip(condition: boolean, need: string): Declare {
  if (condition) return test;
  if (process.env.SBX_TEST_REQUIRE !== 'all')
    return (name, body) => test.skip(`${name} [needs ${need}]`, body);
  return (name) =>
    test(name, () => {
      throw new Error(`SBX_TEST_REQUIRE=all, but this cannot run here: it needs ${need}`);
    });
}

/**
 * {@link requireOrSkip} for programs that lie beside the repository and are no part of it: a clone alone does not have
 * them, so that only a named folder, `SBX_TEST_PEERS`, must hold them.
 */
export function peerOrSkip(condition: boolean, need: string): Declare {
  if (condition || process.env.SBX_TEST_PEERS !== undefined) return requireOrSkip(condition, need);
  return (name, body) => test.skip(`${name} [needs ${need}]`, body);
}

/** Whether the tests run as root; CI runs them both ways. */
export const isRoot = process.geteuid?.() === 0;

/** {@link requireOrSkip} for what only root can do. A plain user always skips it: the run as root covers it. */
export function asRoot(condition = true, need = ''): Declare {
  return isRoot ? requireOrSkip(condition, need) : (name, body) => test.skip(`${name} [needs root]`, body);
}

/** A test of what stops a plain user and not root. Root always skips it: the run as a plain user covers it. */
export const asPlainUser: Declare = isRoot
  ? (name, body) => test.skip(`${name} [needs a plain user]`, body)
  : test;
