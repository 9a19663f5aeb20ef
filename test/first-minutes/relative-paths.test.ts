import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FREE_PORTS, openFolder, serving, windlass } from './windlass-process.ts'

test('windlass up --data ./grid, as in its help, runs commands', async () => {
  const { path: cwd, remove } = openFolder('relative')
  onTestFinished(remove)
  const grid = await serving(['up', '--slots', '2', '--data', './grid', ...FREE_PORTS], { cwd })
  onTestFinished(async () => void (await grid.stop()))
  const { grpc } = grid.ready
  const ran = await windlass(['run', '-s', `grpc://${grpc}`, '--', '/bin/echo', 'hello'], { cwd })
  expect(ran, grid.err()).toMatchObject({ code: 0, out: 'hello\n' })
  expect(grid.err()).not.toContain('ENOENT')
  expect(existsSync(join(cwd, 'grid'))).toBe(true)
})

test('a worker accepts relative paths for its directories and its Unix socket', async () => {
  const { path: cwd, remove } = openFolder('relative')
  onTestFinished(remove)
  mkdirSync(join(cwd, 'run'))
  const flags = ['--grpc', 'unix:run/grid.sock', '--http', '127.0.0.1:0', '--data', 'grid']
  const server = await serving(['server', ...flags], { cwd })
  onTestFinished(async () => void (await server.stop()))
  const env = { WINDLASS_SERVER_DATA_DIR: 'worker', WINDLASS_WORKER_HOST_WORK_DIR: 'worker/rooms' }
  const worker = await serving(['worker', 'daemon', '--server-url', 'unix:run/grid.sock'], { cwd, env })
  onTestFinished(async () => void (await worker.stop()))
  const ran = await windlass(['run', '-s', 'unix:run/grid.sock', '--', '/bin/echo', 'hello'], { cwd })
  expect(ran, worker.err()).toMatchObject({ code: 0, out: 'hello\n' })
})
