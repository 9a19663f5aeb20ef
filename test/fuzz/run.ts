import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Finding, fuzz, judgeInput, MOST_HEAP_GROWTH, type Progress, writeFinding } from './fuzz.ts'
import { readInput } from './input.ts'
import type { TargetChoice } from './make-input.ts'

const USAGE = `node test/fuzz/run.ts [--inputs 5000000] [--seed N] [--from N] [--seconds N] [--target frames|hpack|all] [--replay FILE]
A seed can also be given as WINDLASS_SEED. Inputs that fail are written to .windlass/fuzz/.`

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '5000000' },
    seed: { type: 'string' },
    from: { type: 'string', default: '0' },
    seconds: { type: 'string' },
    target: { type: 'string', default: 'all' },
    replay: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const MiB = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(1)} MiB`

const show = ({ done, perSecond, worstMs, heapGrowthBytes }: Progress): string =>
  `${done} inputs, ${Math.round(perSecond)}/s, worst ${worstMs.toFixed(1)} ms, heap ${MiB(heapGrowthBytes)}`

async function replay(file: string): Promise<boolean> {
  const { problems, worstMs } = await judgeInput(readInput(readFileSync(file, 'utf8')))
  console.log(problems.length === 0 ? `no problem, ${worstMs.toFixed(1)} ms` : problems.join('\n'))
  return problems.length === 0
}

function keep(finding: Finding, seed: number): void {
  const folder = join(import.meta.dirname, '../../.windlass/fuzz')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${seed}-${finding.number}.txt`)
  writeFileSync(file, writeFinding(finding, seed))
  console.log(
    `input ${finding.number} (${finding.input.target}, ${finding.input.origin}): ${finding.problems.join('\n  ')}`,
  )
  console.log(`  replay with: node test/fuzz/run.ts --replay ${file}`)
}

async function campaign(): Promise<boolean> {
  const seed = Number(values.seed ?? process.env.WINDLASS_SEED ?? Date.now() % 2 ** 31)
  console.log(`seed ${seed}, target ${values.target}, ${values.inputs} inputs`)
  const report = await fuzz({
    inputs: Number(values.inputs),
    seed,
    from: Number(values.from),
    target: values.target as TargetChoice,
    ...(values.seconds === undefined ? {} : { seconds: Number(values.seconds) }),
    onProgress: (progress) => console.log(show(progress)),
  })
  for (const finding of report.findings) keep(finding, seed)
  const grows = report.heapGrowthBytes > MOST_HEAP_GROWTH
  if (grows) console.log(`the heap grew by ${MiB(report.heapGrowthBytes)}, at most ${MiB(MOST_HEAP_GROWTH)} is allowed`)
  console.log(`seed ${seed}: ${show(report)}, ${report.seconds.toFixed(0)} s, ${report.findings.length} findings`)
  return report.findings.length === 0 && !grows
}

if (values.help) console.log(USAGE)
else process.exitCode = (await (values.replay === undefined ? campaign() : replay(values.replay))) ? 0 : 1
