/**
 * `npm run test:faults`: workers and the server are killed 200 times while they run 2,000 short tasks; no task may be
 * lost, applied twice or stuck. `--kills N`, `--tasks N`, `--seed N` (to repeat a run), `--keep` keeps its folder.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leaveNothing } from '../../src/testing/leave-nothing.ts'
import { seedOfRun } from '../../src/testing/random-source.ts'
import { runFaults } from './run-faults.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    tasks: { type: 'string', default: '2000' },
    seed: { type: 'string', default: `${seedOfRun()}` },
    keep: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  const [kills, tasks, seed] = [Number(values.kills), Number(values.tasks), Number(values.seed)]
  const folder = mkdtempSync(join(tmpdir(), 'windlass-faults-'))
  process.once('exit', () => {
    if (values.keep) console.log(`everything is in ${folder}`)
    else rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  console.log(`${kills} kills during ${tasks} tasks, seed ${seed}`)
  const { failures, summary } = await runFaults({ kills, tasks, seed, folder, say: (words) => console.log(words) })
  console.log(summary)
  for (const failure of failures) console.error(`wrong: ${failure}`)
  console.log(
    failures.length === 0 ? 'nothing lost, nothing applied twice, nothing stuck' : `--seed ${seed} repeats it`,
  )
  return failures.length === 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
leaveNothing()
process.exit(await main())
