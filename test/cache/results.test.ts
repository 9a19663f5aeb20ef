import { describe, expect, test } from 'vitest'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { FileLayer } from '../../src/storage/packs/file-layer.ts'
import { forgetfulFiles } from '../../src/storage/packs/forgetful-files.fixture.ts'
import { openOn } from '../../src/storage/packs/pack-store.fixture.ts'
import { packedActionCache } from '../../src/storage/packs/packed-action-cache.ts'
import type { CacheClient } from './cache-client.ts'
import { clientOf, ownFolder, serverIn } from './in-process.ts'

const update = ({ api, blobOf }: CacheClient, action: string, stdout: string) =>
  api.updateResult({
    actionDigest: blobOf(Buffer.from(action)).digest,
    actionResult: resultFrom({ stdoutRaw: Buffer.from(stdout) }),
  })

async function stdoutOf({ api, blobOf }: CacheClient, action: string): Promise<string> {
  const result = await api.getResult(blobOf(Buffer.from(action)).digest, { inlineStdout: true })
  return Buffer.from(result.stdoutRaw).toString()
}

describe('cached action results', () => {
  test('270 concurrent lookups each return the result of their own action', async () => {
    const { grpc } = await serverIn(ownFolder())
    const clients = [clientOf(grpc), clientOf(grpc), clientOf(grpc)]
    const texts = Array.from({ length: 90 }, (_, i) => `${i} `.repeat(1 + ((i * 577) % 30_000)))
    await Promise.all(texts.map((text, i) => update(clients[i % 3] as CacheClient, `action ${i}`, text)))
    const asked = Array.from({ length: 270 }, (_, i) => (i * 7) % texts.length)
    const got = await Promise.all(asked.map((i, at) => stdoutOf(clients[at % 3] as CacheClient, `action ${i}`)))
    expect(got.every((text, at) => text === texts[asked[at] as number])).toBe(true)
  })

  test('a lookup during replacements returns the old or the new result, never a mixture', async () => {
    const { grpc } = await serverIn(ownFolder())
    const [writer, reader] = [clientOf(grpc), clientOf(grpc)]
    const texts = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i).repeat(400_000 + i))
    await update(writer, 'one', texts[0] as string)
    let newest = 0
    let isOver = false
    const writing = (async () => {
      for (const [i, text] of texts.entries()) {
        await update(writer, 'one', text)
        newest = i
      }
      isOver = true
    })()
    writing.catch(() => {})
    let reads = 0
    while (!isOver) {
      const least = newest
      const got = texts.indexOf(await stdoutOf(reader, 'one'))
      expect(got, 'a whole result, and none that was replaced before the question').toBeGreaterThanOrEqual(least)
      reads++
    }
    await writing
    expect(reads).toBeGreaterThan(0)
    expect((await stdoutOf(reader, 'one')) === texts.at(-1)).toBe(true)
  })
})

/** Files whose reads wait until a gate is opened. */
function gatedFiles(): FileLayer & { close(): () => void } {
  const files = forgetfulFiles()
  let gate: Promise<void> = Promise.resolve()
  return {
    ...files,
    open(path, mode) {
      const file = files.open(path, mode)
      return { ...file, read: async (into, position) => gate.then(() => file.read(into, position)) }
    },
    close() {
      const opened = Promise.withResolvers<void>()
      gate = opened.promise
      return () => opened.resolve()
    },
  }
}

// The store looks a value up again between its first and its second chunk, and then finds the new one.
test('a result that is replaced while its first chunk is read is returned whole, old or new', async () => {
  const files = gatedFiles()
  const { store } = await openOn(files)
  const cache = packedActionCache(store.values())
  const action = { fn: 'sha256', hash: 'ab'.repeat(32), size: 1 } as const
  const [old, young] = [Buffer.alloc(2_000_000, 'a'), Buffer.alloc(2_000_000, 'b')]
  await cache.put('', action, old)
  const open = files.close()
  const getting = cache.get('', action)
  await cache.put('', action, young)
  open()
  const got = Buffer.from((await getting) ?? [])
  expect(got.equals(old) || got.equals(young), `begins with ${got[0]}, ends with ${got.at(-1)}`).toBe(true)
})
