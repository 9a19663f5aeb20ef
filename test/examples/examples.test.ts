import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { plainEnv, ROOT, serving } from '../first-minutes/windlass-process.ts'
import { type ExampleGrid, exampleGrid } from './example-grid.ts'
import { HOW, replaced, WORDS } from './example-table.ts'
import { helpExamples, shell } from './help-examples.ts'

const examples = await helpExamples(ROOT)
let grid: ExampleGrid
beforeAll(async () => {
  grid = await exampleGrid()
})
afterAll(() => grid?.close(), 60_000)

test('every row of the tables is used, and every address in the examples is replaced', () => {
  expect(Object.keys(HOW).filter((example) => !examples.includes(example))).toEqual([])
  expect(Object.keys(WORDS).filter((word) => !examples.some((example) => example.includes(word)))).toEqual([])
  for (const example of examples) {
    const text = replaced(example, grid.by)
    expect(text).not.toMatch(/…|\/run\/|example\.com|\/\/(?!127\.0\.0\.1|localhost)/)
  }
})

/** Starts a command that runs until it is stopped, and stops it after its first line of output. */
async function served(line: string, cwd: string): Promise<{ code: number | null; out: string; err: string }> {
  const env = {
    ...plainEnv(),
    ...grid.env,
    WINDLASS_SERVER_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0',
  }
  const child = spawn('sh', ['-c', `exec ${line}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const seen = { out: '', err: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.err += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.out += text
    child.kill('SIGINT')
  })
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, ...seen }
}

/** A task that runs as long as the test. */
async function runningTask(cwd: string): Promise<string> {
  const child = spawn('sh', ['-c', 'exec windlass run --no-cache -- sleep 600'], {
    cwd,
    env: { ...plainEnv(), ...grid.env },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (;;) {
    const { out } = await shell('windlass tasks --state running --json', cwd, grid.env)
    const id = /"task":"([^"]+)"/.exec(out)?.[1]
    if (id !== undefined) return id
  }
}

describe('the examples in --help', () => {
  test.for(examples)('%s', async (example, context) => {
    const how = HOW[example] ?? {}
    if (how.skip !== undefined) {
      context.task.meta.skipReason = how.skip
      return context.skip(how.skip)
    }
    const cwd = grid.folder()
    if (how.before !== undefined) await shell(how.before, cwd, grid.env)
    if (how.worker) {
      const worker = await serving(['worker', 'daemon', '--id', 'host-7', '--data', './own'], { cwd, env: grid.env })
      onTestFinished(async () => void (await worker.stop()))
    }
    const by = how.task ? { ...grid.by, task: await runningTask(cwd) } : grid.by
    const line = replaced(`${example}${how.more ?? ''}`, by)
    const { code, out, err } = await (how.serves ? served(line, cwd) : shell(line, cwd, grid.env))
    const interrupted = how.serves && out !== '' ? [0, 130] : [0]
    expect(interrupted, `${line}\n${out}${err}`).toContain(code)
  })
})
