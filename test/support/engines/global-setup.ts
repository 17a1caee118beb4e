/** Around a whole run of tests: the engine that they share, when any of those chosen uses one. */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { engineNeeds, startEngine } from './engine.ts';

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SBX_TEST_DOCKER !== undefined) return undefined;
  // What the command line names; vitest's types leave it out.
  const filters: unknown = Reflect.get(project.vitest, 'filenamePattern');
  const { testFiles } = await project.globTestFiles(Array.isArray(filters) ? filters.map(String) : undefined);
  if (!testFiles.some((path) => usesEngine(readFileSync(path, 'utf8')))) return undefined;
  if (engineNeeds() !== undefined) return undefined;
  const engine = await startEngine({ work: join(tmpdir(), 'engine') });
  process.env.SBX_TEST_DOCKER = engine.host;
  return async () => engine[Symbol.asyncDispose]();
}

/** By the helpers through which tests get at it. */
function usesEngine(text: string): boolean {
  return /\/(engines\/shared|docker-engine)\.ts';/.test(text);
}
