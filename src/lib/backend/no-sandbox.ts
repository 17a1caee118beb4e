/** The error for a sandbox that is not there. */
import { SbxError } from '../errors.ts';

const HINT = 'see what there is: sbx ls --all';

/** There is no sandbox `ref`, and nothing else is known of it. */
export function noSandbox(ref: string, backend: string, cause?: unknown): SbxError {
  return new SbxError('not_found', `there is no sandbox '${ref.slice(0, 100)}' on backend '${backend}'`, {
    backend,
    hint: HINT,
    cause,
  });
}

/** Whether a backend that did not find a sandbox tells more than {@link noSandbox}, such as that it has expired. */
export function tellsMore({ hint }: SbxError): boolean {
  return hint !== undefined && hint !== HINT;
}
