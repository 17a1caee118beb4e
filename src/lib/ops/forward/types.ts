/** What a forward is, for those who open, show and keep them. */

/** A forward that listens. As JSON this is one line of `forward --json`. */
export interface EstablishedForward {
  readonly sandbox: string;
  readonly backend: string;
  /** `forward`: this machine listens. `reverse`: the sandbox does. */
  readonly direction: 'forward' | 'reverse';
  /** On this machine: the address and port, or the path of a Unix socket. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  /** The port in the sandbox. */
  readonly remote: number;
}

/** What happens to forwards while they are open. */
export interface ForwardHooks {
  /** A forward listens. */
  readonly established: (forward: EstablishedForward) => void;
  /** A forward stopped listening while the others go on. */
  readonly closed: (forward: EstablishedForward) => void;
  /** A line that a person should see: another port was taken, a connection was refused, a forward ended. */
  readonly notice: (line: string) => void;
  /** A line for `--debug`. */
  readonly debug: (line: string) => void;
}

/** `127.0.0.1:8080 -> 3000`: from the side that listens to the side that is connected to. */
export function forwardText(forward: EstablishedForward): string {
  const { direction, sandbox, remote, path } = forward;
  const here = path ?? hostPort(forward.address ?? '127.0.0.1', forward.port ?? 0);
  return direction === 'forward' ? `${here} -> ${remote}` : `${sandbox}:${remote} -> ${here}`;
}

/** An address and a port as one word. */
export function hostPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
