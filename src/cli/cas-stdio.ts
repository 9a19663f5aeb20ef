import { createReadStream, write } from 'node:fs'
import { promisify } from 'node:util'
import { systemClock } from '../app/clock.ts'

const STDIN = 0
const STDOUT = 1
const WAIT_MS = 5

/** Bytes from standard input, as they come. */
export const standardInput = (): AsyncIterable<Uint8Array> =>
  createReadStream('', { fd: STDIN, autoClose: false, highWaterMark: 512 * 1024 })

/** Bytes to standard output, as they are; false when nobody reads them any more. */
export async function toStandardOutput(bytes: Uint8Array): Promise<boolean> {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += (await promisify(write)(STDOUT, bytes, at, bytes.length - at)).bytesWritten
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'EPIPE') return false
      if (code !== 'EAGAIN') throw error
      // A pipe that is full, and that somebody set not to block.
      await new Promise<void>((resolve) => void systemClock.after(WAIT_MS, resolve))
    }
  }
  return true
}
