import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { engineBy } from '../../src/runtimes/docker/engine.ts'
import { engineSocket } from '../../src/runtimes/docker/engine-socket.ts'
import type { ImagePolicy } from '../../src/runtimes/images/image-cache.ts'
import { emptyRoom, realClock, runOf } from '../../src/runtimes/run/rooms.fixture.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { type TinyRegistry, tinyRegistry } from './docker-registry.ts'

/** A service that is no registry: it responds to every request with a secret. */
async function talkative() {
  const secret = JSON.stringify({
    errors: [{ code: 'DENIED', message: 'hush: the secret of a neighbour', detail: 'hush' }],
  })
  const server = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(secret)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const why = whyNoDocker()
const never = new AbortController().signal

describe('images pulled by Docker', why === undefined ? {} : { skip: true, meta: { skipReason: why } }, () => {
  let engine: RunningEngine
  let registry: TinyRegistry
  let digest = ''
  beforeAll(async () => {
    engine = await startDocker()
    registry = await tinyRegistry()
    for (const name of ['a', 'b', 'c']) {
      writeFileSync(join(engine.root, 'etc/which'), randomBytes(4_000_000)) // so that no two images share a layer
      digest = registry.add(`tools/${name}`, '1', engine.root)
    }
  })
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]()
    await engine?.stop()
  })
  const named = (name: string): string => `docker://${registry.host}/tools/${name}:1`
  const made = (more: Partial<ImagePolicy> = {}) =>
    dockerBy(engine.socketPath, IMAGE, {
      images: {
        pull: 'if-missing',
        maxBytes: 1 << 30,
        image: undefined,
        registries: [registry.host, '127.0.0.1:1'],
        ...more,
      },
    })
  const isHere = async (name: string): Promise<boolean> => {
    const asked = engineBy(engineSocket(engine.socketPath, realClock))
    return (await asked.image(`${registry.host}/tools/${name}:1`)) !== undefined
  }

  test('are pulled when missing, kept, and evicted when their total exceeds maxBytes', async () => {
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

  test('can be named by digest', async () => {
    await using by = made()
    using byTag = await by.runtime.images.hold(named('c'), never)
    using byDigest = await by.runtime.images.hold(`${registry.host}/tools/c@${digest}`, never)
    expect(byDigest?.digest).toBe(byTag?.digest)
  })

  test('are looked up in the registry each time with pull = "always"', async () => {
    await using by = made({ pull: 'always' })
    const before = registry.timesAsked()
    for (let i = 0; i < 2; i++) (await by.runtime.images.hold(named('a'), never))?.[Symbol.dispose]()
    expect(registry.timesAsked()).toBeGreaterThan(before)
  })

  test('that the registry lacks are invalid, and those of an unreachable registry are unavailable', async () => {
    await using by = made()
    await expect(by.runtime.images.hold(`${registry.host}/tools/none:1`, never)).rejects.toMatchObject({
      fault: { kind: 'invalid', what: expect.stringContaining(`${registry.host}/tools/none:1`) },
    })
    await expect(by.runtime.images.hold('127.0.0.1:1/tools/a:1', never)).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining('127.0.0.1:1/tools/a:1') },
    })
  })

  test('are not requested from a private address, unless the operator lists it', async () => {
    await using by = made({ registries: undefined })
    const { host: at } = registry
    const port = at.split(':')[1]
    const received = registry.timesHeard()
    for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1'])
      await expect(by.runtime.images.hold(`${host}:${port}/tools/none:1`, never), host).rejects.toMatchObject({
        fault: { kind: 'unavailable', what: expect.stringContaining('worker.docker.registries') },
      })
    expect(registry.timesHeard()).toBe(received)
  })

  test("do not reveal the registry's response to the client", async () => {
    const { host, server } = await talkative()
    onTestFinished(() => void server.close())
    await using by = made({ registries: [host] })
    const refusal = await by.runtime.images.hold(`${host}/tools/a:1`, never).catch((error: Error) => error)
    expect(refusal).toMatchObject({ fault: { what: expect.stringContaining(`${host}/tools/a:1`) } })
    expect((refusal as Error).message).not.toContain('hush')
  })
})
