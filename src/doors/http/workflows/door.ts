import { type Context, Hono } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Caller } from '../../../model/caller.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { WorkflowRunStatus } from '../../../services/workflows/driver/workflow-run.ts'
import { stepLogs } from '../../../services/workflows/step-logs.ts'
import type { WorkflowService } from '../../../services/workflows/workflow-service.ts'
import { dataResponse, errorResponse } from '../server/envelope.ts'
import { takes } from '../server/request-rules.ts'
import { eventStream } from './event-stream.ts'
import { smallFiles } from './output-files.ts'
import { queryFrom, runRequestFrom } from './request.ts'
import { statusJson, stepJson, summaryJson } from './response.ts'

export interface WorkflowsDoorOptions {
  readonly workflows: WorkflowService
  readonly callerOf: (c: Context) => Caller
  readonly engine: Pick<Engine, 'find'>
  readonly instances: Instances
  readonly clock: Clock
  readonly log: Log
  /** Creates request ids. */
  readonly newId: () => string
  /** Aborted when the server stops: event streams end. */
  readonly ending: AbortSignal
  /** Aborted when the server stops accepting workflows. */
  readonly draining?: AbortSignal
}

const BASE = '/api/v1/submissions'
/** The limit of a document with the vocabularies that it names. */
const MOST_ORDER_BYTES = 16 * 1024 * 1024
/** Steps in the answer for one workflow run; the list of steps has all of them. */
const FIRST_STEPS = 1000

/** Workflows over HTTP: `door.route('/', workflowsDoor(…))`. */
export function workflowsDoor(options: WorkflowsDoorOptions): Hono {
  const { workflows } = options
  const app = new Hono()
  app.onError((error, c) => errorResponse(c, options, error))
  app.post(BASE, takes('application/json', { maxBytes: MOST_ORDER_BYTES }), async (c) => {
    if (options.draining?.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
    const order = runRequestFrom(await bodyOf(c))
    options.instances(order.instance) // refuses a name that is not served here
    const status = await workflows.create(options.callerOf(c), order)
    c.status(201)
    return dataResponse(c, options, statusJson(status))
  })
  app.get(BASE, (c) => {
    const page = workflows.list(options.callerOf(c), queryFrom(c.req.query(), c.req.queries('label') ?? []))
    return dataResponse(c, options, { submissions: page.submissions.map(summaryJson), next_cursor: page.next ?? null })
  })
  app.get(`${BASE}/:id`, async (c) => {
    const status = await found(c, options)
    const steps = (await workflows.steps(options.callerOf(c), status.id)) ?? []
    return dataResponse(c, options, { ...statusJson(status), steps: steps.slice(0, FIRST_STEPS).map(stepJson) })
  })
  app.get(`${BASE}/:id/steps`, async (c) => {
    const { id } = await found(c, options)
    return dataResponse(c, options, { steps: ((await workflows.steps(options.callerOf(c), id)) ?? []).map(stepJson) })
  })
  app.get(`${BASE}/:id/logs`, (c) => logsOf(c, options))
  app.get(`${BASE}/:id/events`, (c) => events(c, options))
  app.get(`${BASE}/:id/files`, (c) => files(c, options))
  const cancel = async (c: Context): Promise<Response> => {
    const { id } = await found(c, options)
    const status = await workflows.cancel(options.callerOf(c), id)
    return dataResponse(c, options, status && statusJson(status))
  }
  app.post(`${BASE}/:id/cancel`, cancel)
  app.put(`${BASE}/:id/cancel`, cancel)
  app.delete(`${BASE}/:id`, cancel)
  return app
}

async function bodyOf(c: Context): Promise<unknown> {
  const text = await c.req.text()
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('the body is not JSON')
  }
}

async function found(c: Context, { workflows, callerOf }: WorkflowsDoorOptions): Promise<WorkflowRunStatus> {
  const id = c.req.param('id') ?? ''
  const status = await workflows.find(callerOf(c), id)
  if (status === undefined)
    throw new FaultError({ kind: 'absent', what: `no submission is named ${JSON.stringify(id.slice(0, 200))}` })
  return status
}

/** `?step=PATH`; the path of a single tool is empty. */
async function logsOf(c: Context, options: WorkflowsDoorOptions): Promise<Response> {
  const { workflows, engine, instances } = options
  const { id, instance } = await found(c, options)
  const path = c.req.query('step') ?? ''
  const step = (await workflows.steps(options.callerOf(c), id))?.find((one) => one.path === path)
  if (step?.operation === undefined)
    throw new FaultError({
      kind: 'absent',
      what: `no task of this submission is ${JSON.stringify(path.slice(0, 200))}`,
    })
  return dataResponse(
    c,
    options,
    await stepLogs(options.callerOf(c), step.operation, { engine, blobs: instances(instance).blobs }),
  )
}

async function events(c: Context, options: WorkflowsDoorOptions): Promise<Response> {
  const { workflows, clock, ending } = options
  const caller = options.callerOf(c)
  const { id } = await found(c, options)
  const stream = eventStream({
    listen: (wake) => workflows.listen(caller, id, { after: c.req.header('last-event-id'), wake }),
    status: () => workflows.find(caller, id),
    steps: wantedSteps(c.req.query('steps')),
    clock,
    signal: AbortSignal.any([c.req.raw.signal, ending]),
  })
  return c.body(stream, 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
}

function wantedSteps(word = 'all'): 'all' | 'failed' {
  if (word !== 'all' && word !== 'failed') throw invalid('steps: must be all or failed')
  return word
}

/** Sends the small output files of an ended run. */
async function files(c: Context, options: WorkflowsDoorOptions): Promise<Response> {
  const { workflows, instances } = options
  const status = await found(c, options)
  const stream = smallFiles(workflows.filesOf(status), instances(status.instance).blobs)
  return c.body(stream, 200, { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' })
}
