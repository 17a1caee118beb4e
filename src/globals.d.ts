/** The package's version, put in by the bundler and by vitest. */
declare const SBX_VERSION: string;

declare module '*.sh' {
  const text: string;
  export default text;
}

declare module '*.py' {
  const text: string;
  export default text;
}

declare module '*.txt' {
  const text: string;
  export default text;
}
