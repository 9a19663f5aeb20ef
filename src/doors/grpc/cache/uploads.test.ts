import { describe, expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { type BlobUpload, pausedUploads } from './uploads.ts'

const TEN_MINUTES = 600_000

/** Adds its name to `gone` when it is aborted. */
function upload(name: string, gone: string[], committed = 1): BlobUpload {
  return { committed, write() {}, finish: async () => {}, abort: () => void gone.push(name) }
}

describe('paused uploads', () => {
  test('an upload is taken once, with its committed size', () => {
    const paused = pausedUploads(manualClock())
    const gone: string[] = []
    const kept = upload('a', gone, 5)
    paused.keep('a', kept)
    expect(paused.committed('a')).toBe(5)
    expect(paused.take('a')).toBe(kept)
    expect([paused.take('a'), paused.committed('a'), gone]).toEqual([undefined, 0, []])
  })

  test('an upload is kept for ten minutes after its own interruption', () => {
    const clock = manualClock()
    const paused = pausedUploads(clock)
    const gone: string[] = []
    paused.keep('a', upload('a', gone))
    clock.advance(TEN_MINUTES - 1)
    paused.keep('b', upload('b', gone))
    clock.advance(1)
    expect([gone, paused.committed('a'), paused.committed('b')]).toEqual([['a'], 0, 1])
    // Taken and interrupted again: ten minutes from now.
    paused.keep('b', paused.take('b') as BlobUpload)
    clock.advance(TEN_MINUTES - 1)
    expect(gone).toEqual(['a'])
    clock.advance(1)
    expect([gone, clock.pending()]).toEqual([['a', 'b'], 0])
  })

  test('a second upload of a name replaces the first', () => {
    const paused = pausedUploads(manualClock())
    const gone: string[] = []
    paused.keep('a', upload('first', gone, 1))
    paused.keep('a', upload('second', gone, 2))
    expect([gone, paused.committed('a')]).toEqual([['first'], 2])
  })

  test('at most 1,000 uploads are kept: the oldest is aborted, with its timer', () => {
    const clock = manualClock()
    const paused = pausedUploads(clock)
    const gone: string[] = []
    for (let i = 0; i < 1003; i++) paused.keep(`u${i}`, upload(`u${i}`, gone))
    expect(gone).toEqual(['u0', 'u1', 'u2'])
    expect(clock.pending()).toBe(1000)
    expect([paused.committed('u2'), paused.committed('u3')]).toEqual([0, 1])
    // Replacing an upload does not evict another.
    paused.keep('u3', upload('again', gone))
    expect([gone.at(-1), clock.pending()]).toEqual(['u3', 1000])
  })
})
