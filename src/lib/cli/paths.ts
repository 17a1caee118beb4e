/** Where a command works and where sbx keeps its files. Pure; creates nothing. */
import { type StorePaths, storePaths } from '../store/paths.ts';

/** Absolute folders; none of them need exist yet. */
export interface Paths extends StorePaths {
  /** The working directory that relative paths of a command line start from. */
  readonly cwd: string;
}

/** Paths from the environment; each is worked out when it is asked for, and may throw then. */
export function pathsFrom(env: Readonly<Record<string, string | undefined>>, cwd: () => string): Paths {
  const paths = storePaths(env);
  return {
    get cwd() {
      return cwd();
    },
    get config() {
      return paths.config;
    },
    get state() {
      return paths.state;
    },
    get cache() {
      return paths.cache;
    },
    get runtime() {
      return paths.runtime;
    },
  };
}
