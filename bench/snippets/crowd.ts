/** Concurrent load: the runs per second, and how long tasks wait although a slot is free. */
import { systemClock } from '../../src/app/process/clock.ts'
import type { NewSnippet } from '../../src/client/snippets/snippet-answers.ts'
import { snippetsClient } from '../../src/client/snippets/snippets.ts'
import type { Child } from '../child.ts'
import { type ServerQuestion, TENANT } from './servers/server.ts'
import { type Delays, OTHER_TENANT } from './servers/timed-desk.ts'

export interface Crowd {
  readonly url: string
  readonly count: number
  /** Tasks in progress at a time. */
  readonly open: number
  taskFor(number: number): NewSnippet
}

/** Returns the runs per second. Throws when a task fails. */
export async function crowded({ url, count, open, taskFor }: Crowd): Promise<number> {
  const client = snippetsClient({ url, clock: systemClock })
  const from = performance.now()
  let next = 0
  const one = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      const { status, result } = await client.run(taskFor(number))
      if (status !== 'completed') throw new Error(`a run is ${status}: ${JSON.stringify(result).slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: open }, one))
  return (count * 1000) / (performance.now() - from)
}

export const delaysOf = (server: Child): Promise<Delays> => server.ask({ ask: 'delays' } satisfies ServerQuestion)

export interface Flood {
  readonly url: string
  readonly server: Child
  readonly task: NewSnippet
  /**
   * The number of queued tasks of the first tenant, and the number of tasks of the other tenant, one after the other.
   */
  readonly waiting: number
  readonly count: number
}

/**
 * One tenant has all slots and a long queue; another submits one task at a time. Returns the waiting times of the
 * latter.
 */
export async function flooded({ url, server, task, waiting, count }: Flood): Promise<readonly number[]> {
  const submit = async (tenant: string): Promise<void> => {
    const response = await fetch(new URL('/api/v1/tasks?wait=60s', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [TENANT]: tenant },
      body: JSON.stringify(task),
    })
    if (!response.ok) throw new Error(`a task was answered with ${response.status}`)
    await response.arrayBuffer()
  }
  let isOver = false
  const flood = Array.from({ length: waiting }, async () => {
    while (!isOver) await submit('flood')
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  await delaysOf(server)
  for (let i = 0; i < count; i++) await submit(OTHER_TENANT)
  const { firstSlot } = await delaysOf(server)
  isOver = true
  await Promise.all(flood)
  return firstSlot
}
