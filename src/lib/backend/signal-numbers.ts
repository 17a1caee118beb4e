import type { SignalName } from './contract.ts';

/** Linux's numbers of the signals that can be sent, whatever machine this is. */
export const SIGNAL_NUMBERS: Readonly<Record<SignalName, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ABRT: 6,
  KILL: 9,
  USR1: 10,
  SEGV: 11,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  WINCH: 28,
};
