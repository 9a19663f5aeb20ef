import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engineSocketPath } from './engine-places.ts'

test('a socket named in DOCKER_HOST is used, whether it exists or not', () => {
  expect(engineSocketPath({ dockerHost: 'unix:///a/b.sock', runtimeDir: undefined })).toBe('/a/b.sock')
})

test("a rootless engine of the worker's user takes precedence over the engine of the machine", async () => {
  const runtimeDir = mkdtempSync(join(tmpdir(), 'windlass-run-'))
  mkdirSync(join(runtimeDir, 'podman'))
  const path = join(runtimeDir, 'podman/podman.sock')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  expect(engineSocketPath({ dockerHost: 'tcp://elsewhere:2375', runtimeDir })).toBe(path)
  await new Promise((resolve) => server.close(resolve))
  rmSync(runtimeDir, { recursive: true })
  expect(engineSocketPath({ dockerHost: undefined, runtimeDir })).toMatch(/^\/(var\/)?run\//)
})
