import { read, write } from 'node:fs'
import { promisify } from 'node:util'
import { pause } from '../../app/process/clock.ts'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const WAIT_MS = 5
const READ_BYTES = 512 * 1024

/** Bytes from standard input, as they arrive. */
export async function* standardInput(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES)
    const bytes = await whenPossible(async () => (await promisify(read)(STDIN, piece, 0, READ_BYTES, null)).bytesRead)
    if (bytes === 0) return
    yield piece.subarray(0, bytes)
  }
}

/** Writes bytes to standard output unchanged; returns false when the reader has closed. */
export const toStandardOutput = (bytes: Uint8Array): Promise<boolean> => writeTo(STDOUT, bytes)

export const toStandardError = (bytes: Uint8Array): Promise<boolean> => writeTo(STDERR, bytes)

async function writeTo(file: number, bytes: Uint8Array): Promise<boolean> {
  try {
    for (let at = 0; at < bytes.length; ) {
      at += await whenPossible(async () => (await promisify(write)(file, bytes, at, bytes.length - at)).bytesWritten)
    }
    return true
  } catch (error) {
    if (codeOf(error) === 'EPIPE') return false
    throw error
  }
}

/** Retries on EAGAIN: another process may have set the pipe to non-blocking. */
async function whenPossible(step: () => Promise<number>): Promise<number> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error
      await pause(WAIT_MS)
    }
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
