/**
 * A vitest reporter whose last line is `N passed, N failed, N skipped`; with `SBX_TEST_COUNTS` it goes into that file too,
 * followed by a line for each failure, because the end of a long log is all that some readers see.
 */
import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Characters of a failure's reason. */
const REASON_LIMIT = 300;

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message?: string }[]): void {
    let passed = 0;
    let skipped = 0;
    const failures = unhandled.map(({ message }) => failure('outside of any test', message));
    for (const module of modules) {
      const before = failures.length;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'skipped') skipped++;
        else failures.push(failure(`${module.relativeModuleId} > ${test.fullName}`, errors?.[0]?.message));
      }
      // A file that cannot be loaded holds no test that could fail.
      if (failures.length === before && !module.ok())
        failures.push(failure(module.relativeModuleId, module.errors()[0]?.message));
    }
    process.once('exit', (code) => {
      // What goes wrong after the last test, such as something left behind, shows in the exit code alone.
      if (failures.length === 0 && code !== 0)
        failures.push(failure('after the last test', `exit code ${code}`));
      const line = `${passed} passed, ${failures.length} failed, ${skipped} skipped\n`;
      const file = process.env.SBX_TEST_COUNTS;
      if (file !== undefined) appendFileSync(file, `${line}${failures.join('')}`);
      process.stdout.write(line);
    });
  }
}

function failure(where: string, reason = 'no reason given'): string {
  return `${`${where}: ${reason}`.replaceAll(/\s+/g, ' ').slice(0, REASON_LIMIT)}\n`;
}
