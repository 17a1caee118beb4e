#!/usr/bin/env node
// Builds, then runs: for work on sbx itself.
await import('../scripts/build.mjs');
await import('./run.js');
