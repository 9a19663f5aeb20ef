import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type ImageCacheOptions, imageCache } from './image-cache.ts'
import type { ImageName } from './image-name.ts'
import { type ImageStore, notHad, type StoredImage } from './image-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-images-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const never = new AbortController().signal

/** A store in memory with a registry in memory: each image has 10 bytes. */
function memoryStore() {
  const here = new Map<string, StoredImage>()
  const pulls: string[] = []
  const removed: string[] = []
  let gate: Promise<void> = Promise.resolve()
  const stored = ({ text }: ImageName): StoredImage => ({ digest: `of ${text}`, bytes: 10, source: text, volumes: [] })
  const store: ImageStore = {
    find: async (name) => here.get(name.text),
    async pull(name) {
      pulls.push(name.text)
      await gate
      if (name.text.includes('missing')) throw notHad(name, 'manifest unknown')
      here.set(name.text, stored(name))
      return stored(name)
    },
    async remove({ text }) {
      removed.push(text)
      return here.delete(text)
    },
  }
  const wait = (until: Promise<void>): void => {
    gate = until
  }
  return { store, here, pulls, removed, stored, wait }
}

let time = 0
let at: ReturnType<typeof memoryStore>
const cacheOf = (more: Partial<ImageCacheOptions> = {}) =>
  imageCache({
    ...{ store: at.store, clock: { now: () => ++time }, folder, pull: 'if-missing', maxBytes: 25, image: undefined },
    ...more,
  })
const long = (name: string): string => `docker.io/library/${name}:latest`

beforeEach(() => {
  at = memoryStore()
  rmSync(join(folder, 'images.json'), { force: true })
})

describe('image cache of a worker', () => {
  test('a missing image is pulled once', async () => {
    const cache = cacheOf()
    using first = await cache.hold('docker://a', never)
    using second = await cache.hold('a:latest', never)
    expect([first?.digest, second?.source]).toEqual([`of ${long('a')}`, long('a')])
    expect(at.pulls).toEqual([long('a')])
  })

  test('concurrent holds of one image share one pull, and an aborted hold does not end it', async () => {
    const gate = Promise.withResolvers<void>()
    at.wait(gate.promise)
    const cache = cacheOf()
    const abort = new AbortController()
    const holds = [cache.hold('a', abort.signal), cache.hold('a', never), cache.hold('a', never)]
    abort.abort()
    expect(await holds[0]).toBeUndefined()
    gate.resolve()
    expect((await Promise.all(holds.slice(1))).map((held) => held?.source)).toEqual([long('a'), long('a')])
    expect(at.pulls).toEqual([long('a')])
  })

  test("pull: 'always' pulls at every hold, except an image named by its digest", async () => {
    const cache = cacheOf({ pull: 'always' })
    for (let i = 0; i < 2; i++) (await cache.hold('a', never))?.[Symbol.dispose]()
    const fixed = `a@sha256:${'0'.repeat(64)}`
    for (let i = 0; i < 2; i++) (await cache.hold(fixed, never))?.[Symbol.dispose]()
    expect(at.pulls).toHaveLength(3)
  })

  test("pull: 'never' uses images that are present, and is unavailable with the name of a missing one", async () => {
    const cache = cacheOf({ pull: 'never', image: 'b' })
    await expect(cache.hold('a', never)).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining(long('a')) },
    })
    at.here.set(long('b'), at.stored({ text: long('b') } as ImageName))
    using image = await cache.hold(undefined, never)
    expect([image?.source, at.pulls]).toEqual([long('b'), []])
  })

  test('above maxBytes the least recently used image is removed, and never one in use', async () => {
    const cache = cacheOf()
    const a = await cache.hold('a', never)
    ;(await cache.hold('b', never))?.[Symbol.dispose]()
    ;(await cache.hold('c', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('b')]) // a is older, but in use
    a?.[Symbol.dispose]()
    a?.[Symbol.dispose]() // a second dispose has no effect
    ;(await cache.hold('a', never))?.[Symbol.dispose]()
    ;(await cache.hold('d', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('b'), long('c')])
  })

  test("an image that the cache did not pull is never removed, also after pull: 'always' updated it", async () => {
    at.here.set(long('theirs'), at.stored({ text: long('theirs') } as ImageName))
    const cache = cacheOf({ pull: 'always' })
    for (const name of ['theirs', 'a', 'b', 'c', 'd']) (await cache.hold(name, never))?.[Symbol.dispose]()
    expect(at.here.has(long('theirs'))).toBe(true)
    expect(at.removed).toEqual([long('a'), long('b')])
  })

  test('pulled images are known after a restart, and a damaged record counts as empty', async () => {
    for (const name of ['a', 'b']) (await cacheOf().hold(name, never))?.[Symbol.dispose]()
    ;(await cacheOf().hold('c', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('a')])
    expect(readFileSync(join(folder, 'images.json'), 'utf8')).toContain(long('c'))
    writeFileSync(join(folder, 'images.json'), '{"x": null, ')
    ;(await cacheOf().hold('d', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('a')])
  })

  test('a missing image is invalid with its name, and is pulled again at the next hold', async () => {
    const cache = cacheOf()
    for (let i = 0; i < 2; i++)
      await expect(cache.hold('missing', never)).rejects.toMatchObject({
        fault: {
          kind: 'invalid',
          what: expect.stringMatching(/docker\.io\/library\/missing:latest.*its registry has no such image/),
        },
      })
    expect(at.pulls).toHaveLength(2)
  })

  test('an image from a registry that is not allowed is unavailable', async () => {
    const cache = cacheOf({ registries: ['docker.io'] })
    await expect(cache.hold('127.0.0.1:22/x', never)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    using image = await cache.hold('x', never)
    expect(image?.source).toBe(long('x'))
    await expect(cacheOf().hold('', never)).rejects.toThrow('names no container image')
  })
})
