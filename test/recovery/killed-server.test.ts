/**
 * killed-server.tar.gz is the data directory of a server at commit 7593e8f that was killed with SIGKILL, together with
 * its worker, while it had: two actions, a snippet and a CWL step running, a snippet assigned, three actions (two of
 * them merged into one task) and a snippet queued, and three tasks ended. The running commands poll the date until a time
 * that has passed, so they end at once when a worker runs them again. Never record the file again with newer code: it
 * proves that data of that version can still be read.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { codeServer, codeWorker, ownFolder } from '../snippets/code-grid.ts'
import { windlass } from '../workers/worker-process.ts'

interface Listed {
  readonly task: string
  readonly state: string
  readonly exitCode: number | null
}

const SNIPPETS = {
  ended: 'task_01a1ebaa2331726fa501f5a321d40db2',
  running: 'task_01a1ebaa2959762fb087f6d9064d9224',
  cancelled: 'task_01a1ebaa2f7b72968197542070c4d06a',
  assigned: 'task_24f28cac2083213150174f62724afc853b8f7cd6',
  queued: 'task_01a1ebaa2fc2719cafceec1a1771f96f',
} as const

const WORKFLOW = '01a1ebaa-2c39-766c-8139-e27314873593'

test('a server runs all tasks to their end that an earlier version had queued and running when it was killed', {
  timeout: 300_000,
}, async () => {
  const folder = ownFolder()
  const { status } = spawnSync('tar', ['-C', folder, '-xzf', join(import.meta.dirname, 'killed-server.tar.gz')])
  expect(status).toBe(0)
  const server = await codeServer(folder)
  const listed = async (): Promise<readonly Listed[]> => {
    const { out } = await windlass('tasks', '--server', `grpc://${server.grpc}`, '--json')
    return (JSON.parse(out) as { tasks: readonly Listed[] }).tasks
  }
  expect(statesOf(await listed())).toEqual({
    ...{ '1-1': 'completed', '1-2': 'completed', '1-3': 'running', '1-4': 'running', '1-5': 'running' },
    ...{ '1-6': 'running', '1-7': 'cancelled', '1-8': 'assigned', '1-9': 'queued', '1-a': 'queued', '1-c': 'queued' },
  })

  await codeWorker(server, ['bash'])
  const snippets = await Promise.all(Object.values(SNIPPETS).map((id) => server.client.wait(id)))
  expect(snippets.map(({ status, result }) => [status, result?.output])).toEqual([
    ['failed', 'ended\n'],
    ['completed', 'running-3\n'],
    ['cancelled', undefined],
    ['completed', 'queued-3\n'],
    ['completed', 'queued-4'],
  ])
  await eventually(async () => expect(await workflowState(server.httpUrl)).toBe('COMPLETED'))

  const tasks = await listed()
  // Task 2-1 is the workflow's second step, which the new server started.
  expect(statesOf(tasks)).toEqual({
    ...{ '1-1': 'completed', '1-2': 'completed', '1-3': 'completed', '1-4': 'completed', '1-5': 'completed' },
    ...{ '1-6': 'completed', '1-7': 'cancelled', '1-8': 'completed', '1-9': 'completed', '1-a': 'completed' },
    ...{ '1-c': 'completed', '2-1': 'completed' },
  })
  expect(tasks.find(({ task }) => task === '1-5')?.exitCode).toBe(4)
})

const statesOf = (tasks: readonly Listed[]): Record<string, string> =>
  Object.fromEntries(tasks.map(({ task, state }) => [task, state]))

async function workflowState(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/submissions/${WORKFLOW}`)
  return ((await answer.json()) as { data: { state: string } }).data.state
}
