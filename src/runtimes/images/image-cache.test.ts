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

describe('images of a worker', () => {
  test('one is pulled when it is missing, and not again', async () => {
    const cache = cacheOf()
    using first = await cache.hold('docker://a', never)
    using second = await cache.hold('a:latest', never)
    expect([first?.digest, second?.source]).toEqual([`of ${long('a')}`, long('a')])
    expect(at.pulls).toEqual([long('a')])
  })

  test('several who want one at a time wait for one pull, and who leaves does not end it', async () => {
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

  test('told to pull always it asks every time, unless a digest says which', async () => {
    const cache = cacheOf({ pull: 'always' })
    for (let i = 0; i < 2; i++) (await cache.hold('a', never))?.[Symbol.dispose]()
    const fixed = `a@sha256:${'0'.repeat(64)}`
    for (let i = 0; i < 2; i++) (await cache.hold(fixed, never))?.[Symbol.dispose]()
    expect(at.pulls).toHaveLength(3)
  })

  test('told never to pull it takes what is there, and names what is not', async () => {
    const cache = cacheOf({ pull: 'never', image: 'b' })
    await expect(cache.hold('a', never)).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining(long('a')) },
    })
    at.here.set(long('b'), at.stored({ text: long('b') } as ImageName))
    using image = await cache.hold(undefined, never)
    expect([image?.source, at.pulls]).toEqual([long('b'), []])
  })

  test('of too many the one goes whose use is longest ago, and none that is in use', async () => {
    const cache = cacheOf()
    const a = await cache.hold('a', never)
    ;(await cache.hold('b', never))?.[Symbol.dispose]()
    ;(await cache.hold('c', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('b')]) // a is older, and in use
    a?.[Symbol.dispose]()
    a?.[Symbol.dispose]() // twice is once
    ;(await cache.hold('a', never))?.[Symbol.dispose]()
    ;(await cache.hold('d', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('b'), long('c')])
  })

  test('what somebody else has brought is never removed, also when it is brought up to date', async () => {
    at.here.set(long('theirs'), at.stored({ text: long('theirs') } as ImageName))
    const cache = cacheOf({ pull: 'always' })
    for (const name of ['theirs', 'a', 'b', 'c', 'd']) (await cache.hold(name, never))?.[Symbol.dispose]()
    expect(at.here.has(long('theirs'))).toBe(true)
    expect(at.removed).toEqual([long('a'), long('b')])
  })

  test('which are ours is known in the next life, and a spoilt record is no more than forgetting', async () => {
    for (const name of ['a', 'b']) (await cacheOf().hold(name, never))?.[Symbol.dispose]()
    ;(await cacheOf().hold('c', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('a')])
    expect(readFileSync(join(folder, 'images.json'), 'utf8')).toContain(long('c'))
    writeFileSync(join(folder, 'images.json'), '{"x": null, ')
    ;(await cacheOf().hold('d', never))?.[Symbol.dispose]()
    expect(at.removed).toEqual([long('a')])
  })

  test('one that cannot be had is named, and asked for again the next time', async () => {
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

  test('one of another registry than those allowed is refused', async () => {
    const cache = cacheOf({ registries: ['docker.io'] })
    await expect(cache.hold('127.0.0.1:22/x', never)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    using image = await cache.hold('x', never)
    expect(image?.source).toBe(long('x'))
    await expect(cacheOf().hold('', never)).rejects.toThrow('names no container image')
  })
})
