/** Names of folders of a base layer and of a sandbox that several parts have to agree on. Loads nothing: the hot path reads it. */

/** Where base layers are, below the state folder. */
export const BASE_FOLDER = 'base';
/** Where this machine's folders stay reachable for us inside a sandbox, below a cover: see capture-running.ts. */
export const HIDDEN_FOLDER = '.sbx';
/**
 * Where the programs of this machine that bring a process into a sandbox are seen inside, read-only: see join.ts. Right
 * below the root, where a mount point cannot be moved away.
 */
export const TOOLS_FOLDER = '.sbx-tools';
/** The part of a base layer that the tools are mounted on. */
export const TOOLS_PART = 'tools';
