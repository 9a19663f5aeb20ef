import { describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { type Random, randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { bytesOf, digestOf, holds, listOf, upload } from '../blobs.fixture.ts'
import { type ForgetfulFiles, forgetfulFiles } from './forgetful-files.fixture.ts'
import { unheardEvents } from './pack-events.ts'
import { type PackStore, packStore } from './pack-store.ts'
import type { WriteDurability } from './pack-writer.ts'

const KiB = 1024

/** The client's view: the blobs and values that were sent, and those that were acknowledged. */
class Ledger {
  readonly blobs = new Map<string, { digest: Digest; bytes: Buffer; isAcknowledged: boolean }>()
  /** For each name, the possible values: the last acknowledged one (undefined at first), and those put since. */
  readonly values = new Map<number, (string | undefined)[]>()

  asked(bytes: Buffer): Digest {
    const digest = digestOf(bytes)
    if (!this.blobs.has(digest.hash)) this.blobs.set(digest.hash, { digest, bytes, isAcknowledged: false })
    return digest
  }

  acknowledged(...digests: Digest[]): void {
    for (const { hash } of digests) {
      const blob = this.blobs.get(hash)
      if (blob !== undefined) blob.isAcknowledged = true
    }
  }
}

const nameOf = (number: number): Buffer => Buffer.alloc(32, number + 1)

const openOn = async (files: ForgetfulFiles, durability: WriteDurability) => {
  const clock = manualClock()
  const options = { packBytes: 48 * KiB, soloBytes: 6 * KiB, syncEveryBytes: 20 * KiB, scrubBytesPerSecond: 0 }
  const store = await packStore({ files, clock, events: unheardEvents, durability, maxBytes: 2 ** 30, ...options })
  return { store, clock }
}

/** Writes of every kind, some concurrent; the same for the same seed, up to the power cut. */
async function work(files: ForgetfulFiles, ledger: Ledger, random: Random, durability: WriteDurability): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const { store, clock } = await openOn(files, durability)
    const space = store.space(0)
    for (let step = 0; step < 4; step++) {
      const blobs = Array.from({ length: 1 + random.below(5) }, () => random.bytes(random.below(3000)))
      const digests = blobs.map((bytes) => ledger.asked(bytes))
      const large = random.bytes(4 * KiB + random.below(16 * KiB))
      const largeDigest = ledger.asked(large)
      const name = random.below(3)
      const value = `value ${random.below(1e9)} ${'x'.repeat(random.below(500))}`
      ledger.values.set(name, [...(ledger.values.get(name) ?? [undefined]), value])
      await Promise.all([
        space.writeMany(listOf(digests), blobs).then(() => ledger.acknowledged(...digests)),
        upload(space, { digest: largeDigest, bytes: large, pieceBytes: 3000 }).then(() =>
          ledger.acknowledged(largeDigest),
        ),
        store
          .values()
          .put(nameOf(name), Buffer.from(value))
          .then(() => ledger.values.set(name, [value])),
      ])
      if (random.chance(0.4)) {
        clock.advance(5000)
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
    if (round === 0) await store.close()
  }
}

async function check(store: PackStore, ledger: Ledger, expectAll: boolean, hint: string): Promise<void> {
  const space = store.space(0)
  for (const { digest, bytes, isAcknowledged } of ledger.blobs.values()) {
    const isHeld = await holds(space, digest)
    const held = await bytesOf(space, digest)
    expect(held === undefined, `${hint}: what is said to be there can be read`).toBe(!isHeld)
    if (held !== undefined) expect(held.equals(bytes), `${hint}: wrong bytes are never served`).toBe(true)
    if (isAcknowledged && expectAll) expect(isHeld, `${hint}: what was acknowledged is there`).toBe(true)
  }
  for (const [name, values] of ledger.values) {
    const value = await store.values().get(nameOf(name))
    if (expectAll) expect(values, hint).toContain(value?.toString())
  }
}

describe.each(['power', 'process'] as const)('pack store with durability %s', (durability) => {
  const seed = seedOfRun()

  test(`a power cut at any write causes no wrong bytes and, with power, no loss (WINDLASS_SEED=${seed})`, async () => {
    const whole = forgetfulFiles()
    await work(whole, new Ledger(), randomFrom(seed), durability)
    expect(whole.writes).toBeGreaterThan(20)
    for (let cut = 1; cut <= whole.writes; cut++) {
      const files = forgetfulFiles()
      const ledger = new Ledger()
      files.cutAtWrite(cut)
      await work(files, ledger, randomFrom(seed), durability).catch(() => {})
      const hint = `cut at write ${cut} of ${whole.writes}`
      const again = files.afterCut(randomFrom(seed + cut))
      const { store } = await openOn(again, durability)
      await check(store, ledger, durability === 'power', hint)
      const late = Buffer.from(`written after ${hint}`)
      await store.space(0).writeMany(listOf([ledger.asked(late)]), [late])
      ledger.acknowledged(digestOf(late))
      await check(store, ledger, durability === 'power', `${hint}, and going on`)
      await store.close()
      const { store: third } = await openOn(again.afterKill(), durability)
      await check(third, ledger, durability === 'power', `${hint}, closed and opened again`)
    }
  }, 900_000)

  test(`a process killed at any write loses no acknowledged blob (WINDLASS_SEED=${seed})`, async () => {
    const whole = forgetfulFiles()
    await work(whole, new Ledger(), randomFrom(seed), durability)
    for (let cut = 1; cut <= whole.writes; cut++) {
      const files = forgetfulFiles()
      const ledger = new Ledger()
      files.cutAtWrite(cut)
      await work(files, ledger, randomFrom(seed), durability).catch(() => {})
      const { store } = await openOn(files.afterKill(), durability)
      await check(store, ledger, true, `died at write ${cut} of ${whole.writes}`)
      await store.close()
    }
  }, 900_000)
})
