import { expect, test } from 'vitest'
import { fuzz, MOST_HEAP_GROWTH, writeFinding } from './fuzz.ts'

const seed = Number(process.env.WINDLASS_SEED ?? 20_250)

test('no input of a peer breaks the HTTP/2 engine, in 20,000 inputs', async () => {
  console.log(`fuzzing with seed ${seed}; WINDLASS_SEED sets another`)
  const report = await fuzz({ inputs: 20_000, seed, target: 'all' })
  expect(report.findings.map((finding) => writeFinding(finding, seed))).toEqual([])
  expect(report.heapGrowthBytes).toBeLessThan(MOST_HEAP_GROWTH)
})
