import { readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** On an engine of their own: one that runs containers of several runtimes at once has lost files of both. */
const otherRuntimes = ['test/conformance/docker-runsc.test.ts', 'test/e2e/docker-runtime.test.ts'];

export default defineConfig({
  define: { SBX_VERSION: JSON.stringify(version) },
  // React's fast form has no jsxDEV, and screens load that one.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  plugins: [
    {
      name: 'guest-as-text',
      enforce: 'pre',
      load(id) {
        return /\.(sh|py|txt)$/.test(id)
          ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`
          : undefined;
      },
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...(process.env.SBX_TEST_RUNTIMES === undefined ? otherRuntimes : []),
    ],
    globalSetup: ['./test/support/nothing-left.ts', './test/support/engines/global-setup.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    // Most tests wait for processes: two at once finish sooner than one on any machine, and more only make each other late.
    maxWorkers: 2,
    // They wait for events, so that a slow machine must not fail them.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    teardownTimeout: 20_000,
  },
});
