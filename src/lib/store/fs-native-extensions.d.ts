/** The part of fs-native-extensions (which ships no types) that sbx uses. */
declare module 'fs-native-extensions' {
  const locks: {
    /** False when another open file description holds the lock. */
    tryLock(fd: number, offset?: number, length?: number, options?: { shared?: boolean }): boolean;
    /** Sets an extended attribute. */
    setAttr(fd: number, name: string, value: string | Uint8Array): Promise<void>;
  };
  export default locks;
}
