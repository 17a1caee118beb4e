/** Runs the login shell of the user inside. */
export const LOGIN_SHELL = ['/bin/sh', '-c', '[ -n "$SHELL" ] || SHELL=/bin/sh; exec "$SHELL" -l'] as const;
