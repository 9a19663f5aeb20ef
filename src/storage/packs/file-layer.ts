/**
 * What the pack store asks of a file system, and no more: paths are relative to one data folder and use slashes.
 * Behind it stand the real one (`node-files.ts`) and one that forgets what was not synced (`forgetful-files.fixture.ts`).
 *
 * Reads exist in two forms. The synchronous one is for what is small and most likely in the page cache: 2 µs, where a
 * trip through libuv's pool costs 10 to 40. Everything that may wait for a disk is asynchronous.
 */
export interface FileLayer {
  /**
   * Throws, with the process ID of the holder, when another process has locked this folder; the returned function
   * unlocks it.
   */
  lock(): () => void
  /** Opens for reading and writing; a new file must not exist yet. */
  open(path: string, mode: 'existing' | 'new'): DataFile
  sizeOf(path: string): number
  makeFolder(path: string): void
  /** Names in a folder, in no order. */
  list(folder: string): string[]
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Makes new, renamed and removed names in a folder survive a loss of power. */
  syncFolder(path: string): Promise<void>
}

export interface DataFile {
  size(): number
  /** Fills the first `bytes` of the buffer; answers with fewer only at the end of the file. */
  readSync(into: Uint8Array, bytes: number, position: number): number
  read(into: Uint8Array, position: number): Promise<number>
  /** Writes all of the pieces one after another, or throws; some of them may be there nevertheless. */
  write(pieces: Uint8Array[], position: number): Promise<void>
  /** Makes what was written survive a loss of power. */
  sync(): Promise<void>
  truncate(bytes: number): Promise<void>
  close(): void
}
