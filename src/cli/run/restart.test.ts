import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runningServer } from '../../testing/running-server.ts'
import { windlass, workerFor } from '../grid.fixture.ts'

test('windlass run continues after a restart of the server, with one note', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-restart-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const first = await runningServer(join(folder, 'data'))
  const address = first.target.replace('grpc://', '')
  const worker = await workerFor(first.target, 'restarted')
  onTestFinished(() => worker.stop())

  const gate = join(folder, 'gate')
  const script = `echo begun; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done; exit 7`
  let restarted: Promise<void> | undefined
  const restart = async (): Promise<void> => {
    await first.stop()
    const second = await runningServer(join(folder, 'data'), { SERVER_ADDRESS: address })
    onTestFinished(() => second.stop())
    writeFileSync(gate, '')
  }
  const { code, out, err } = await windlass(['run', '--no-cache', '--', '/bin/sh', '-c', script], {
    at: first.target,
    onShown(text) {
      if (text === 'begun\n') restarted ??= restart()
    },
  })
  await restarted
  expect([code, out]).toEqual([7, 'begun\ndone\n'])
  expect(err).toMatch(/^windlass: .*; trying again\n/)
})
