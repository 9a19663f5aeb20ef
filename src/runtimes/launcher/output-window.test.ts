import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CapturedOutput } from '../run/launch-run.ts'
import { OutputWindow } from './output-window.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 500, ...(seed === undefined ? {} : { seed: Number(seed) }) })

test('the first and last bytes of a stream are kept up to the limit, and dropped bytes are counted', () => {
  const anyPieces = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 })
  fc.assert(
    fc.property(anyPieces, fc.nat(300), (pieces, limit) => {
      const whole = Buffer.concat(pieces)
      const window = new OutputWindow(limit)
      const captured = new CapturedOutput()
      for (const piece of pieces) {
        const now = window.push(piece)
        if (now !== undefined) captured.add(now)
      }
      if (window.dropped > 0) captured.drop(window.dropped, window.tail())
      const { bytes, droppedBytes, droppedAt } = captured.output()
      expect(bytes.length).toBe(Math.min(limit, whole.length))
      expect(bytes.length + droppedBytes).toBe(whole.length)
      const expected = [whole.subarray(0, droppedAt), whole.subarray(whole.length - (bytes.length - droppedAt))]
      expect(Buffer.compare(Buffer.from(bytes), Buffer.concat(expected))).toBe(0)
      if (whole.length > limit) expect(bytes.length - droppedAt).toBe(Math.min(whole.length - limit, limit >> 1))
    }),
  )
})
