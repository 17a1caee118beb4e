/** What both ends of a link of `sbx serve` know: the protocol's name and the streams. docs/protocol.md, "Links". */

/** Of the upgrade, with its version. */
export const FRAMES = 'sbx-frames/1';
/** To the command or the terminal. */
export const LINK_INPUT = 2;
/** From its standard output or its terminal. */
export const LINK_OUTPUT = 3;
/** From its standard error. */
export const LINK_ERRORS = 4;
