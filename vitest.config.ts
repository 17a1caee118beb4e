import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export default defineConfig({
  define: { SBX_VERSION: JSON.stringify(version) },
  plugins: [
    {
      name: 'sh-as-text',
      enforce: 'pre',
      load(id) {
        return id.endsWith('.sh') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};` : undefined;
      },
    },
  ],
  test: { include: ['test/**/*.test.ts'] },
});
