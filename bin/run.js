#!/bin/sh
':' //; exec node -- "$0" "$@"
// sh runs the line above. Without its "--", node takes an --env-file among our words for its own: it reads the file
// into our environment, or ends with exit code 9 where there is none, and be it a word of the inner command.

if (process.getBuiltinModule === undefined || Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write(`error: sbx needs Node.js 22.3 or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  const { XDG_CACHE_HOME: xdg, HOME: home } = process.env;
  const base = xdg?.startsWith('/') ? xdg : `${home}/.cache`;
  // Not node's own choice in /tmp: others can write there, and the cache is code. Only below a folder that exists and
  // can hold others: node never returns from trying to make one below, for example, /proc.
  const usable = /^\/(?!(proc|sys|dev)(\/|$))/.test(base) && process.getBuiltinModule('node:fs').existsSync(base);
  if (usable) process.getBuiltinModule('node:module').enableCompileCache(`${base}/sbx/node`);
  await import('../dist/run.js');
}
