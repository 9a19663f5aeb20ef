/**
 * The file system functions that the pack store needs. Paths are relative to one data folder and use slashes.
 * `node-files.ts` implements them on the real file system. `forgetful-files.fixture.ts` loses unsynced data, for tests.
 *
 * There are two forms of reads. The synchronous one is for small reads that are likely in the page cache: it takes 2
 * µs, where libuv's thread pool adds 10 to 40. Everything that may wait for a disk is asynchronous.
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
  /** The names in a folder, unsorted. */
  list(folder: string): string[]
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Makes new, renamed and removed names in a folder survive a power cut. */
  syncFolder(path: string): Promise<void>
}

export interface DataFile {
  size(): number
  /** Fills the first `bytes` of the buffer; returns fewer only at the end of the file. */
  readSync(into: Uint8Array, bytes: number, position: number): number
  read(into: Uint8Array, position: number): Promise<number>
  /** Writes all pieces, one after another, or throws. After an error, some of them may be written. */
  write(pieces: Uint8Array[], position: number): Promise<void>
  /** Makes all completed writes survive a power cut. */
  sync(): Promise<void>
  truncate(bytes: number): Promise<void>
  close(): void
}
