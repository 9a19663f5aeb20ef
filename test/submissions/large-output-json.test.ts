import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkflowServer, type WorkflowServer } from './workflow-server.ts'

let server: WorkflowServer
beforeAll(async () => {
  server = await startWorkflowServer({ workers: 1 })
})
afterAll(() => server?.stop())

interface Submission {
  readonly id: string
  readonly state: string
  readonly outputs?: { readonly out: readonly number[] }
  readonly error?: { readonly message: string }
}

async function call(path: string, body?: object): Promise<Submission> {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(`${server.url}/api/v1/submissions${path}`, init)
  return ((await answer.json()) as { data: Submission }).data
}

async function untilOver(id: string): Promise<Submission> {
  for (;;) {
    const now = await call(`/${id}`)
    if (now.state !== 'PENDING' && now.state !== 'RUNNING') return now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A tool that writes `cwl.output.json` with a list of this many numbers, two bytes each. */
const toolWith = (numbers: number): object => ({
  ...{ cwlVersion: 'v1.2', class: 'CommandLineTool', inputs: {}, outputs: { out: 'Any' } },
  baseCommand: ['sh', '-c'],
  arguments: [
    `{ printf '{"out":[1'; yes ,1 | tr -d '\\n' | head -c ${2 * (numbers - 1)}; printf ']}'; } >cwl.output.json`,
  ],
})

/** The peak memory of the server's process, in bytes. */
function peakOfServer(): number {
  const isServer = (pid: string): boolean => commandOf(pid).includes(`${server.folder}/server`)
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isServer(name))
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it has exited
  }
}

test('twelve cwl.output.json of 60 MB are refused unread', async () => {
  const workflow = toolWith(30_000_000)
  const ids = await Promise.all(Array.from({ length: 12 }, async () => (await call('', { workflow, inputs: {} })).id))
  for (const id of ids) {
    const { state, error } = await untilOver(id)
    expect(state).toBe('FAILED')
    expect(error?.message).toMatch(/cwl.output.json has 60000009 bytes; the limit is 16777216 \(cwl.max_json_bytes\)/)
  }
  expect(peakOfServer()).toBeLessThan(500 << 20)
})

test('a cwl.output.json of 1 MB is accepted', async () => {
  const { state, outputs } = await untilOver((await call('', { workflow: toolWith(500_000), inputs: {} })).id)
  expect(state).toBe('COMPLETED')
  expect(outputs?.out).toHaveLength(500_000)
})
