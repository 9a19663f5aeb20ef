import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { requireTool } from '../../src/testing/require.ts'
import { MAX_MESSAGE_BYTES, MAX_METADATA_BYTES } from './conversation.ts'

/** gRPC's C core, as the Python of this machine has it. */
export const PYTHON = 'python3-grpcio'

/** For a script that does not end with its input. */
const PATIENCE_MS = 120_000

export interface PythonScript {
  /** One line as JSON. */
  tell(words: unknown): void
  /** Resolves when the script has ended, for whatever reason. */
  readonly gone: Promise<unknown>
  /** Ends its input, and waits until it is gone. */
  close(): Promise<void>
}

/** A script beside this file that speaks JSON, a line each; it ends when its input does, so it cannot outlive us. */
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
