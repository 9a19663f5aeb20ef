import type { Context } from 'hono'
import { FaultError, invalid } from '../../../base/fault.ts'
import type { TaskLease } from '../../../engine/workers/worker-session.ts'
import { askForLeases, type LeaseAsker } from '../../../services/workers/ask-for-leases.ts'
import { leaseMessages, refuseLease } from '../../../services/workers/leases.ts'
import { leaseToJson } from '../../../wire/workers/json/lease.ts'
import { bothResponse, dataResponse } from '../server/envelope.ts'
import type { HttpWorkersTools } from './http-workers.ts'
import { askerOf, type HttpWorker } from './http-workers.ts'
import { type PlainTask, plainTask } from './response.ts'
import { waitTime } from './wait-time.ts'

/** GET of …/work: the next task, or several for a worker that requests a number. */
export async function handOut(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { workers, door } = tools
  refusePages(c)
  const worker = askerOf(c, workers)
  const waitMs = waitTime(c.req.query('wait'), door.longPollMs)
  const tasks = worker.wantsSpec ? mostOf(c.req.query('max')) : 1
  const { signal } = c.req.raw
  const asker: LeaseAsker = {
    signal,
    get cancelled() {
      return signal.aborted
    },
  }
  const leases = await askForLeases(door, { worker: worker.id, tasks, waitMs }, asker)
  return worker.wantsSpec ? wholeTasks(c, tools, { worker, leases }) : plainTasks(c, tools, { worker, leases })
}

/** Refuses browsers: a page that names this address in an image must not get a task. Workers are not browsers. */
function refusePages(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new FaultError({ kind: 'denied', what: 'web pages may not request tasks' })
}

function mostOf(text: string | undefined): number {
  if (text === undefined) return 1
  if (!/^[1-9]\d{0,3}$/.test(text)) throw invalid('max: must be a number from 1 to 9999')
  return Number(text)
}

interface Handed {
  readonly worker: HttpWorker
  readonly leases: readonly TaskLease[]
}

function wholeTasks(c: Context, tools: HttpWorkersTools, { worker, leases }: Handed): Response {
  const { service, clock } = tools.door
  const messages = leaseMessages(leases, { service, worker: worker.id, wantsSpec: true, now: clock.now() })
  if (messages.length === 0) return c.body(null, 204)
  for (const { attemptId, expiresAt } of messages) {
    worker.session.attempts.given(attemptId, expiresAt)
    worker.given.set(attemptId, undefined)
  }
  return dataResponse(c, tools, { tasks: messages.map(leaseToJson) })
}

function plainTasks(c: Context, tools: HttpWorkersTools, { worker, leases }: Handed): Response {
  const [lease] = leases
  const task = lease && readable(lease, worker, tools)
  if (lease === undefined || task === undefined) return c.body(null, 204)
  worker.session.attempts.given(lease.attemptId, lease.expiresAt)
  worker.given.set(lease.attemptId, task.given)
  return bothResponse(c, tools, task.json)
}

/** A lease that this protocol cannot express fails here, and its task gets the reason. */
function readable(lease: TaskLease, { id, runtime }: HttpWorker, { door }: HttpWorkersTools): PlainTask | undefined {
  try {
    return plainTask(lease, { worker: id, runtime, now: door.clock.now() })
  } catch (error) {
    refuseLease(lease, { service: door.service, worker: id }, error)
    return undefined
  }
}
