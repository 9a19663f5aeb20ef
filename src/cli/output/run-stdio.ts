import type { Stream } from '../../client/execution/live-output.ts'
import { toStandardError, toStandardOutput } from './stdio.ts'

/** Writes a command's output unchanged; returns false when the reader has closed. */
export type Stdio = Readonly<Record<Stream, (bytes: Uint8Array) => Promise<boolean>>>

export const STDIO: Stdio = { stdout: toStandardOutput, stderr: toStandardError }
