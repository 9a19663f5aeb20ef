import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, testWith } from '../../src/testing/require.ts'
import { windlass } from '../workers/worker-process.ts'

const PROCESSES = `
import os, signal, sys
for made in range(200):
    try:
        if os.fork() == 0: signal.pause()
    except OSError:
        sys.exit(f'refused after {made}')
`

describeWith('bwrap', 'a command without requested limits', () => {
  testWith('python3', 'has the memory and process limits of its worker', async () => {
    vi.stubEnv('WINDLASS_WORKER_DEFAULT_MEMORY_BYTES', `${100 << 20}`)
    vi.stubEnv('WINDLASS_WORKER_DEFAULT_PROCESSES', '40')
    onTestFinished(() => void vi.unstubAllEnvs())
    const folder = mkdtempSync(join(tmpdir(), 'windlass-limits-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    await using running = await runWindlass(join(folder, 'grid'), 'up')
    const run = (script: string) =>
      windlass('run', '--server', `grpc://127.0.0.1:${running.port}`, '--', '/usr/bin/python3', '-c', script)
    const eaten = await run('x = bytearray(400 << 20); print(len(x))')
    expect([eaten.code, eaten.out]).toEqual([137, ''])
    const forked = await run(PROCESSES)
    expect([forked.code, forked.err]).toEqual([1, expect.stringMatching(/refused after (3\d|2\d)/)])
  })
})
