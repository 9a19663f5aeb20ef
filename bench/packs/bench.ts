/**
 * Measures the cost of the pack store per 4 KiB blob, compared with bare loops over the same bytes, and how fast it
 * opens again. The bare loops only append with one write per 64 blobs, and pread. One file per blob is the design of
 * other caches.
 */
import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, renameSync, rmSync, write, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { systemClock } from '../../src/app/process/clock.ts'
import type { DigestList } from '../../src/base/digest.ts'
import { nodeFiles } from '../../src/storage/packs/node-files.ts'
import { unheardEvents } from '../../src/storage/packs/pack-events.ts'
import { type PackStore, packStore } from '../../src/storage/packs/pack-store.ts'

const BLOB_BYTES = 4096
const PER_CALL = 100
const PER_WRITE = 64
const LARGE_MIB = 256
const MiB = 1024 * 1024

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { smoke: { type: 'boolean', default: false }, blobs: { type: 'string' } },
  })
  const count = Number(values.blobs ?? (values.smoke ? 20_000 : 1_000_000))
  console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}, ${count} blobs`)
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-packs-'))
  try {
    await bareLoops(folder, count)
    await store(join(folder, 'store'), count)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return 0
}

const microseconds = ({ user, system }: { user: number; system: number }): number => user + system

/** Prints the CPU time per unit, of all threads and of this one. */
async function measure(name: string, units: number, work: () => unknown): Promise<void> {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  const perUnit = (used: { user: number; system: number }) => (microseconds(used) / units).toFixed(2).padStart(9)
  const rate = Math.round((units / ms) * 1000).toLocaleString('en')
  console.log(
    `${name.padEnd(46)}${rate.padStart(12)}/s  CPU µs ${perUnit(process.cpuUsage(all))}  main ${perUnit(process.threadCpuUsage(main))}`,
  )
}

async function bareLoops(folder: string, count: number): Promise<void> {
  const stage = Buffer.alloc(PER_WRITE * BLOB_BYTES, 7)
  const fd = openSync(join(folder, 'bare'), 'w+')
  const append = promisify(write)
  await measure('bare append, one write per 64 blobs', count, async () => {
    for (let at = 0; at < count; at += PER_WRITE) await append(fd, stage, 0, stage.length, at * BLOB_BYTES)
  })
  const buffer = Buffer.alloc(BLOB_BYTES)
  await measure('bare pread', count, () => {
    for (let at = 0; at < count; at++) readSync(fd, buffer, 0, BLOB_BYTES, at * BLOB_BYTES)
  })
  closeSync(fd)
  const few = Math.min(count, 20_000)
  await measure('one file per blob, written and renamed', few, () => {
    for (let at = 0; at < few; at++) {
      writeFileSync(join(folder, 'incoming'), buffer)
      renameSync(join(folder, 'incoming'), join(folder, `blob-${at}`))
    }
  })
}

async function store(folder: string, count: number): Promise<void> {
  const open = (): Promise<PackStore> =>
    packStore({
      files: nodeFiles(folder, process.pid),
      clock: systemClock,
      events: unheardEvents,
      durability: 'process',
      maxBytes: 2 ** 42,
      scrubBytesPerSecond: 0,
    })
  const hashes = Buffer.alloc(count * 32)
  for (let i = 0; i < count; i++)
    createHash('sha256')
      .update(String(i))
      .digest()
      .copy(hashes, i * 32)
  const listAt = (from: number): DigestList => {
    const size = Math.min(PER_CALL, count - from)
    const part = hashes.subarray(from * 32, (from + size) * 32)
    return { fn: 'sha256', width: 32, count: size, hashes: part, sizes: new Float64Array(size).fill(BLOB_BYTES) }
  }
  const blobs = new Array<Uint8Array>(PER_CALL).fill(Buffer.alloc(BLOB_BYTES, 7))
  let opened = await open()
  await measure('store, 8 clients write 100 at a time', count, async () => {
    let next = 0
    const client = async () => {
      for (let from = next; from < count; from = next) {
        next += PER_CALL
        const list = listAt(from)
        await opened.space(0).writeMany(list, blobs.slice(0, list.count))
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))
  })
  const sink = { found() {}, absent: () => console.log('a blob is absent') }
  for (const time of ['first, checked', 'second']) {
    await measure(`store, readMany of 100, ${time}`, count, () => {
      for (let from = 0; from < count; from += PER_CALL) opened.space(0).readMany(listAt(from), sink)
    })
  }
  const absent = new Uint8Array(PER_CALL)
  await measure('store, missing of 100', count, () => {
    for (let from = 0; from < count; from += PER_CALL) opened.space(0).missing(listAt(from), absent)
  })
  await opened.close()
  await measure('store, opened again (per store)', 1, async () => {
    opened = await open()
  })
  await large(opened)
  console.log(`resident: ${Math.round(process.memoryUsage().rss / MiB)} MiB`)
  await opened.close()
}

async function large(opened: PackStore): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 3)
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: LARGE_MIB * MiB } as const
  await measure('store, one large blob written (per MiB)', LARGE_MIB, async () => {
    const writer = opened.space(0).write(digest, 'identity')
    for (let at = 0; at < digest.size; at += piece.length) await writer.write(piece)
    await writer.commit()
  })
  for (const time of ['first, checked', 'second']) {
    await measure(`store, one large blob read, ${time} (per MiB)`, LARGE_MIB, async () => {
      const reader = await opened.space(0).read(digest, { offset: 0 })
      for await (const _ of reader?.pieces ?? []);
    })
  }
}
