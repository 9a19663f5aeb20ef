import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

/**
 * Ensures that nothing that the tests started survives the test process, however it ends (exit, Ctrl+C, SIGTERM,
 * SIGKILL). Children inherit the mark in their environment; a process in its own session waits for the end of this one.
 */
export function leaveNothing(): void {
  // A test that starts its own test run, and checks what that run leaves, chooses its mark.
  const mark = process.env.NEXT_TEST_RUN_MARK ?? randomUUID()
  delete process.env.NEXT_TEST_RUN_MARK
  const { TEST_RUN_MARK: _, ...env } = process.env
  const sweeper = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/sweep-marked.ts'), mark], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env,
  })
  sweeper.unref()
  const { stdin } = sweeper
  if (stdin !== null && 'unref' in stdin) (stdin as unknown as { unref(): void }).unref()
  process.env.TEST_RUN_MARK = mark
}

/** Called by vitest, in its main process and before it starts others. */
export default leaveNothing
