/** A vitest reporter whose last line is `N passed, N failed, N skipped`; with `SBX_TEST_COUNTS` it goes into that file too. */
import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0;
    let skipped = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'skipped') skipped++;
        else failedHere++;
      }
      // A file that cannot be loaded holds no test that could fail.
      failed += failedHere === 0 && !module.ok() ? 1 : failedHere;
    }
    process.once('exit', (code) => {
      // What goes wrong after the last test, such as something left behind, shows in the exit code alone.
      if (failed === 0 && code !== 0) failed = 1;
      const line = `${passed} passed, ${failed} failed, ${skipped} skipped\n`;
      const file = process.env.SBX_TEST_COUNTS;
      if (file !== undefined) appendFileSync(file, line);
      process.stdout.write(line);
    });
  }
}
