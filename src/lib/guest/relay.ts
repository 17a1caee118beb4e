/** The relay inside a sandbox: which tools it can be made from, and how it says that it connected. Pure. */

/** Tools that relay.sh knows. */
export const RELAY_TOOLS = ['perl', 'python3', 'node', 'nc-openbsd', 'nc', 'socat', 'bash'] as const;
export type RelayTool = (typeof RELAY_TOOLS)[number];

/** What relay-probe.sh found; undefined when there is nothing to relay with. */
export function parseRelayTool(text: string): RelayTool | undefined {
  const name = text.trim();
  return RELAY_TOOLS.find((tool) => tool === name);
}

/** How a connection went. */
export type RelayStatus =
  | { readonly type: 'connected' }
  | { readonly type: 'refused' }
  | { readonly type: 'failed'; readonly why: string };

/** How a connection went, and how its incoming direction ended. */
export interface RelayReport {
  readonly status?: RelayStatus;
  /** The port ended its direction on purpose. */
  readonly ended: boolean;
}

/** What the relay said so far, in whole lines. Lines that it does not say are noise of its tool. */
export function parseRelayReport(text: string): RelayReport {
  let status: RelayStatus | undefined;
  let ended = false;
  for (const line of text.split('\n').slice(0, -1)) {
    if (status !== undefined) ended ||= line === 'ended';
    else if (line === 'connected' || line === 'refused') status = { type: line };
    else if (line.startsWith('failed')) status = { type: 'failed', why: line.slice('failed'.length).trim() };
  }
  return status === undefined ? { ended } : { status, ended };
}

/** Whether a tool says how the port's direction ended. */
export function tellsEnd(tool: RelayTool): boolean {
  return tool === 'perl' || tool === 'python3' || tool === 'node';
}
