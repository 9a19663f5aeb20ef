import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { engineBy } from '../../src/runtimes/docker/engine.ts'
import { engineSocket } from '../../src/runtimes/docker/engine-socket.ts'
import type { ImagePolicy } from '../../src/runtimes/images/image-cache.ts'
import { emptyRoom, realClock, runOf } from '../../src/runtimes/rooms.fixture.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { type TinyRegistry, tinyRegistry } from './docker-registry.ts'

const why = whyNoDocker()
const never = new AbortController().signal

describe('images that Docker pulls', why === undefined ? {} : { skip: true, meta: { skipReason: why } }, () => {
  let engine: RunningEngine
  let registry: TinyRegistry
  let digest = ''
  beforeAll(async () => {
    engine = await startDocker()
    registry = await tinyRegistry()
    for (const name of ['a', 'b', 'c']) {
      writeFileSync(join(engine.root, 'etc/which'), randomBytes(4_000_000)) // so that no two have a layer in common
      digest = registry.add(`tools/${name}`, '1', engine.root)
    }
  })
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]()
    await engine?.stop()
  })
  const named = (name: string): string => `docker://${registry.host}/tools/${name}:1`
  const made = (more: Partial<ImagePolicy> = {}) =>
    dockerBy(engine.socketPath, IMAGE, { images: { pull: 'if-missing', maxBytes: 1 << 30, image: undefined, ...more } })
  const isHere = async (name: string): Promise<boolean> => {
    const asked = engineBy(engineSocket(engine.socketPath, realClock))
    return (await asked.image(`${registry.host}/tools/${name}:1`)) !== undefined
  }

  test('an image is pulled when it is missing, kept, and pushed out by others', async () => {
    await using by = made({ maxBytes: 15_000_000 })
    using room = emptyRoom()
    const run = async (name: string, nth: number) => {
      const again = { ...room, name: `${room.name}-${name}-${nth}` }
      return (await by.runtime.run(runOf(['true'], { room: again, command: { image: named(name) } }), never)).cause
    }
    expect([await run('a', 1), await run('b', 1), await run('a', 2)]).toEqual(['ok', 'ok', 'ok'])
    expect([await isHere('a'), await isHere('b')]).toEqual([true, true])
    expect(await run('c', 1)).toBe('ok')
    expect([await isHere('a'), await isHere('b'), await isHere('c')]).toEqual([true, false, true])
    using held = await by.runtime.images.hold(named('a'), never)
    expect(held?.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test('one can be named by its digest, and is the same image', async () => {
    await using by = made()
    using byTag = await by.runtime.images.hold(named('c'), never)
    using byDigest = await by.runtime.images.hold(`${registry.host}/tools/c@${digest}`, never)
    expect(byDigest?.digest).toBe(byTag?.digest)
  })

  test('told to pull always it asks the registry each time', async () => {
    await using by = made({ pull: 'always' })
    const before = registry.timesAsked()
    for (let i = 0; i < 2; i++) (await by.runtime.images.hold(named('a'), never))?.[Symbol.dispose]()
    expect(registry.timesAsked()).toBeGreaterThan(before)
  })

  test('one that its registry does not have, and a registry that is not there, are told apart', async () => {
    await using by = made()
    await expect(by.runtime.images.hold(`${registry.host}/tools/none:1`, never)).rejects.toMatchObject({
      fault: { kind: 'invalid', what: expect.stringContaining(`${registry.host}/tools/none:1`) },
    })
    await expect(by.runtime.images.hold('127.0.0.1:1/tools/a:1', never)).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining('127.0.0.1:1/tools/a:1') },
    })
  })
})
