import { expect, test } from 'vitest'
import { lend, takeBack } from '../../grpc/lent-buffers.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { collectWhenIdle, processMemory } from './idle-memory.ts'

const MiB = 1024 * 1024

function watched() {
  const clock = manualClock()
  const state = { cpuUs: 0, rssBytes: 400 * MiB, collected: 0 }
  const end = collectWhenIdle(clock, {
    cpuUs: () => state.cpuUs,
    rssBytes: () => state.rssBytes,
    collect: () => void state.collected++,
  })
  const pass = (cpuUs: number): void => {
    state.cpuUs += cpuUs
    clock.advance(10_000)
  }
  return { clock, state, end, pass }
}

test('garbage is collected once after each busy time', () => {
  const { state, pass } = watched()
  pass(9_000_000)
  pass(5_000_000)
  expect(state.collected).toBe(0)
  pass(20_000)
  pass(20_000)
  expect(state.collected).toBe(1)
  pass(3_000_000)
  pass(20_000)
  expect(state.collected).toBe(2)
})

test('nothing is collected of a process that stayed small, or was never busy', () => {
  const { state, pass } = watched()
  pass(20_000)
  state.rssBytes = 150 * MiB
  pass(9_000_000)
  pass(20_000)
  expect(state.collected).toBe(0)
})

test('nothing is looked at after the end', () => {
  const { clock, end } = watched()
  end()
  expect(clock.pending()).toBe(0)
})

/** Runs apart from the test, so that no variable of the test's own frame refers to the buffers. */
function keepBuffersToLendAgain(): void {
  for (const buffer of Array.from({ length: 8 }, () => lend(4 * MiB))) takeBack(buffer)
}

test('the real collection also frees buffers that were kept to be lent again', async () => {
  const before = process.memoryUsage().arrayBuffers
  keepBuffersToLendAgain()
  // V8 releases the memory of dead buffers on another thread, so one collection may not show it yet.
  await expect
    .poll(() => {
      processMemory.collect()
      return process.memoryUsage().arrayBuffers - before
    })
    .toBeLessThan(16 * MiB)
})

test('the real collection frees buffers that nothing refers to', async () => {
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 8; i++) Buffer.allocUnsafeSlow(8 * MiB)
  await expect
    .poll(() => {
      processMemory.collect()
      return process.memoryUsage().arrayBuffers - before
    })
    .toBeLessThan(16 * MiB)
  expect(processMemory.rssBytes()).toBeGreaterThan(0)
  expect(processMemory.cpuUs()).toBeGreaterThan(0)
})
