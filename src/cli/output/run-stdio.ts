import type { Stream } from '../../client/execution/live-output.ts'
import { toStandardError, toStandardOutput } from './stdio.ts'

/** Where the bytes go that a command printed, as they are; false when nobody reads them. */
export type Stdio = Readonly<Record<Stream, (bytes: Uint8Array) => Promise<boolean>>>

export const STDIO: Stdio = { stdout: toStandardOutput, stderr: toStandardError }
