import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { requireTool } from '../../src/testing/require.ts'
import { MAX_MESSAGE_BYTES, MAX_METADATA_BYTES } from './conversation.ts'

/** gRPC's C core, from this machine's Python. */
export const PYTHON = 'python3-grpcio'

/** The time limit for a script that does not end with its input. */
const PATIENCE_MS = 120_000

export interface PythonScript {
  /** Sends one line of JSON. */
  tell(words: unknown): void
  /** Resolves when the script has exited, for any reason. */
  readonly gone: Promise<unknown>
  /** Closes its stdin, and waits until it has exited. */
  close(): Promise<void>
}

/**
 * A script beside this file that exchanges lines of JSON; it exits when its stdin ends, so it cannot outlive this
 * process.
 */
export function pythonScript(name: string, more: object, onLine: (words: unknown) => void): PythonScript {
  const { command = 'python3' } = requireTool(PYTHON)
  const options = { maxMessageBytes: MAX_MESSAGE_BYTES, maxMetadataBytes: MAX_METADATA_BYTES, ...more }
  const script = join(import.meta.dirname, 'python', name)
  const child = spawn(command, ['-u', script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, GRPC_VERBOSITY: 'NONE' },
  })
  const gone = once(child, 'exit')
  createInterface(child.stdout).on('line', (line) => onLine(JSON.parse(line)))
  return {
    tell: (words) => void child.stdin.write(`${JSON.stringify(words)}\n`),
    gone,
    async close() {
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      child.stdin.end()
      await gone
      clearTimeout(timer)
    },
  }
}
