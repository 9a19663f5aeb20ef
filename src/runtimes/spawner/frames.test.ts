import fc from 'fast-check'
import { expect, test } from 'vitest'
import { droppedIn, type FrameKind, FrameWriter, SPAWNER_FRAME, SpawnerFrameReader } from './frames.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 200, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const written = (write: (writer: FrameWriter) => void): Buffer => {
  const pieces: Uint8Array[] = []
  write(new FrameWriter({ write: (bytes) => pieces.push(bytes), cork() {}, uncork() {} }))
  return Buffer.concat(pieces)
}

test('frames are read as they were written, however the bytes are divided', () => {
  const anyFrame = fc.record({
    kind: fc.constantFrom(...Object.values(SPAWNER_FRAME)),
    launch: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    payload: fc.uint8Array({ maxLength: 300 }),
  })
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 20 }), fc.array(fc.nat(400), { maxLength: 30 }), (frames, cuts) => {
      const bytes = written((writer) => {
        for (const { kind, launch, payload } of frames) writer.send(kind, launch, payload)
      })
      const heard: { kind: FrameKind; launch: number; payload: Uint8Array }[] = []
      const reader = new SpawnerFrameReader((kind, launch, payload) =>
        heard.push({ kind, launch, payload: new Uint8Array(payload) }),
      )
      let at = 0
      for (const cut of cuts) {
        reader.push(bytes.subarray(at, at + cut))
        at += cut
      }
      reader.push(bytes.subarray(at))
      expect(heard).toEqual(frames)
    }),
  )
})

test('the count of dropped bytes is exact above 4 GiB', () => {
  const tail = Buffer.from('the end')
  let heard: ReturnType<typeof droppedIn> | undefined
  const reader = new SpawnerFrameReader((_, __, payload) => {
    heard = { ...droppedIn(payload), tail: Buffer.from(droppedIn(payload).tail) }
  })
  reader.push(written((writer) => writer.dropped(SPAWNER_FRAME.stdoutDropped, 7, { count: 2 ** 45 + 1, tail })))
  expect(heard).toEqual({ count: 2 ** 45 + 1, tail })
})
