/** What a failure looks like: text or one line of JSON on stderr, and the exit code. */
import { ERROR_TABLE, type ErrorCode, exitCodeOf, SbxError } from '../errors.ts';
import { visible } from '../ui/text.ts';
import { OutputClosed } from './io.ts';
import { type EndingSignal, exitOfSignal } from './signals.ts';

/** What the report depends on besides the error. */
export interface ReportOptions {
  readonly json: boolean;
  readonly debug: boolean;
  /** The ending signal that arrived, if any. */
  readonly received: EndingSignal | undefined;
  /** `ownFailureExit` of the command. */
  readonly ownFailureExit: number | undefined;
}

/** The text for stderr, which may be empty, and the exit code. */
export interface Report {
  readonly text: string;
  readonly exit: number;
}

/** Turns whatever was thrown into a report. */
export function reportOf(error: unknown, options: ReportOptions): Report {
  if (error instanceof OutputClosed) return { text: '', exit: 0 };
  const code = codeOf(error);
  const exit = exitOf(code, error, options);
  const message = messageOf(code, error);
  const known = error instanceof SbxError ? error : undefined;
  const hint = known?.hint ?? (code === 'bug' ? BUG_HINT : undefined);
  if (options.json) {
    const retryable = known?.retryable ?? false;
    return {
      text: `${JSON.stringify({ error: message, code, hint, retryable, backend: known?.backend })}\n`,
      exit,
    };
  }
  // Ctrl-C needs no explanation: the person at the keyboard gave it.
  const saysMore = known !== undefined && message !== 'interrupted';
  if (code === 'interrupted' && !saysMore && !options.debug) return { text: '', exit };
  const lines = [`error: ${printable(message)}`];
  if (hint !== undefined) lines.push(`hint: ${printable(hint)}`);
  if (options.debug) lines.push(stackOf(error));
  return { text: `${lines.join('\n')}\n`, exit };
}

const BUG_HINT = 'run it again with --debug and report what it prints; this is not your mistake';

function codeOf(error: unknown): ErrorCode {
  if (error instanceof SbxError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'interrupted' : 'bug';
}

function exitOf(code: ErrorCode, error: unknown, { received, ownFailureExit }: ReportOptions): number {
  if (code === 'interrupted')
    return received === undefined ? ERROR_TABLE.interrupted.exit : exitOfSignal(received);
  if (ownFailureExit !== undefined && code !== 'usage') return ownFailureExit;
  return exitCodeOf(error);
}

function messageOf(code: ErrorCode, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'bug' && !(error instanceof SbxError)) return `a bug in sbx (${message})`;
  return message;
}

/** Messages may quote what a sandbox or a server said. Line breaks stay. */
function printable(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\ncaused by: ${stackOf(error.cause)}`;
}
