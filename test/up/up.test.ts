import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { windlass } from '../workers/worker-process.ts'

test('windlass up runs commands on this machine, and never as root', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-up-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const running = await runWindlass(join(folder, 'grid'), 'up')
  try {
    const server = `grpc://127.0.0.1:${running.port}`
    const reported = await windlass('run', '--server', server, '--', '/bin/sh', '-c', 'id -u; pwd; exit 7')
    expect(reported).toMatchObject({ code: 7, out: expect.stringMatching(/^\d+\n\/.+\n$/) })
    expect(Number.parseInt(reported.out, 10)).not.toBe(0)
  } finally {
    await running.server.stop()
  }
})
