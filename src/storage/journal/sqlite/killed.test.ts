import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../../testing/random-source.ts'
import type { Journal } from '../journal.ts'
import { folderForTest, PID } from './sqlite-journal.fixture.ts'
import { sqliteJournal } from './sqlite-journal.ts'

const ROUNDS = process.env.WINDLASS_LONG === '1' ? 50 : 10
const seed = seedOfRun()

/** Records the facts of 100 tasks at a time and logs each acknowledged fact to a file, until it is killed. */
const WRITER = `
  import { openSync, writeSync } from 'node:fs'
  const [module, folder, name] = process.argv.slice(2)
  const { sqliteJournal } = await import(module)
  const journal = await sqliteJournal({ folder, owner: 'this server', pid: process.pid })
  const { epoch } = await journal.recover()
  const said = openSync(folder + '/said-' + name, 'w') // a file and not the pipe, which may be full
  writeSync(said, 'epoch ' + epoch + '\\n')
  writeSync(1, 'opened')
  let number = 0
  const live = async () => {
    const task = name + '-' + number++
    const durability = number % 5 === 0 ? 'power' : 'process'
    const spec = Buffer.alloc(200 + (number * 37) % 1800, task)
    const fencing = { epoch, counter: number }
    const facts = [
      { kind: 'accepted', task, operation: task, instance: '', invocation: '', priority: 0, origin: 'action', spec, durability, at: 1 },
      { kind: 'leased', task, worker: 'w', fencing, attempt: 1, at: 2 },
      { kind: 'joined', task, operation: task + '+', at: 2 },
      { kind: 'finished', task, state: 'completed', fencing, result: spec, reason: '', at: 3 },
    ]
    for (const fact of facts) {
      await journal.record([fact], durability)
      writeSync(said, fact.kind + ' ' + task + '\\n')
    }
    if (number <= 200) writeSync(1, 'ended')
    void live()
  }
  for (let i = 0; i < 100; i++) void live()
`

/** The log of a writer that was killed. */
interface Said {
  readonly epoch: number
  /** The tasks with an acknowledged fact, by kind of fact. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
}

/** The time counts from this word of the writer. */
interface Kill {
  readonly after: 'opened' | 'ended'
  readonly ms: number
}

async function writeUntilKilled(folder: string, name: string, { after, ms }: Kill): Promise<Said> {
  const module = new URL('./sqlite-journal.ts', import.meta.url).href
  const script = join(folder, 'writer.mjs')
  writeFileSync(script, WRITER)
  const child = spawn(process.execPath, [script, module, folder, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8').on('data', (words: string) => {
    if (words.includes(after)) setTimeout(() => child.kill('SIGKILL'), ms)
  })
  await new Promise((resolve) => child.once('close', resolve))
  expect(child.signalCode).toBe('SIGKILL')
  const lines = readFileSync(join(folder, `said-${name}`), 'utf8')
    .split('\n')
    .slice(0, -1)
  const acknowledged = Map.groupBy(lines.slice(1), (line) => line.split(' ')[0] as string)
  return {
    epoch: Number(lines[0]?.split(' ')[1]),
    acknowledged: new Map(
      [...acknowledged].map(([kind, all]) => [kind, all.map((line) => line.split(' ')[1] as string)]),
    ),
  }
}

async function check(journal: Journal, { acknowledged }: Said): Promise<void> {
  const of = (kind: string): readonly string[] => acknowledged.get(kind) ?? []
  const ended = new Set(of('finished'))
  for (const task of of('finished')) {
    const found = await journal.find(task)
    expect([task, found?.state]).toEqual([task, 'completed'])
    expect(Buffer.from(found?.result ?? []).toString()).toBe(Buffer.from(found?.spec ?? []).toString())
    expect(found?.spec.length).toBeGreaterThanOrEqual(200)
  }
  for (const task of of('joined')) expect((await journal.find(`${task}+`))?.task).toBe(task)
  for (const task of of('leased')) expect((await journal.find(task))?.lease?.worker).toBe('w')
  for (const task of of('accepted').filter((one) => !ended.has(one))) {
    expect(['queued', 'assigned', 'completed']).toContain((await journal.find(task))?.state)
  }
}

test(`a process killed while it records loses no acknowledged fact (WINDLASS_SEED=${seed})`, async () => {
  const folder = folderForTest()
  const random = randomFrom(seed)
  let lastEpoch = 0
  let ends = 0
  for (let round = 0; round < ROUNDS; round++) {
    // On a slow machine no task may end in the time of a round; the first round waits for an end.
    const after = round === 0 ? 'ended' : 'opened'
    const said = await writeUntilKilled(folder, `r${round}`, { after, ms: random.below(150) })
    expect(said.epoch).toBeGreaterThan(lastEpoch)
    const journal = await sqliteJournal({ folder, owner: 'this server', pid: PID })
    const { epoch, tasks } = await journal.recover()
    expect(epoch).toBeGreaterThan(said.epoch)
    await check(journal, said)
    expect(tasks.every(({ end, state }) => end === undefined && /^(queued|assigned)$/.test(state))).toBe(true)
    const open = new Set(tasks.map(({ task }) => task))
    expect((said.acknowledged.get('finished') ?? []).filter((task) => open.has(task))).toEqual([])
    await journal.close()
    lastEpoch = epoch
    ends += said.acknowledged.get('finished')?.length ?? 0
  }
  expect(ends).toBeGreaterThan(0)
}, 900_000)
