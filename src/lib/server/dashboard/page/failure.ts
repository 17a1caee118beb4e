/** Failures, for people. */
import { shown } from './text.ts';

/** An answer that is not what was asked for. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function messageOf(error: unknown): string {
  // What fetch throws when nobody answers says something else in each browser.
  if (error instanceof TypeError) return 'The server does not answer.';
  return shown(error instanceof Error ? error.message : String(error));
}
