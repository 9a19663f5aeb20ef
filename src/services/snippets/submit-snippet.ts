import { createHash } from 'node:crypto'
import { FaultError } from '../../base/fault.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { TaskRequest } from '../../engine/tasks/task-request.ts'
import type { Caller } from '../../model/caller.ts'
import type { Language } from '../../model/language.ts'
import type { TaskForm } from '../../model/properties/task-form.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import { commandTaskRequest } from '../execution/task-request.ts'
import { callbackProblem } from './callbacks/callback-url.ts'
import { codeHashOf } from './durations.ts'
import { chooseLanguage, requiresVersion } from './live-offers.ts'
import { noteFromBytes } from './recorded-request.ts'
import { labelsFor } from './snippet-labels.ts'
import { type KnownRequest, noteOf, noteToBytes, requestHash } from './snippet-note.ts'
import { SnippetRefusal } from './snippet-refusal.ts'
import type { CallbackSettings, SnippetTools } from './snippet-tools.ts'
import { SNIPPET_ORIGIN } from './snippet-view.ts'

export interface SubmitOptions {
  readonly request: SnippetRequest
  readonly durability: Durability
  /** The caller waits for the end, and gets no acknowledgement before it. */
  readonly deferAck?: boolean
  /** Hash of the expected output of the run that this one repeats, when the text itself was not kept. */
  readonly expectedHash?: string | undefined
}

export interface Submitted {
  readonly operation: OperationStatus
  /** An earlier request with the same key created it. */
  readonly isKnown: boolean
}

export interface SubmitTools {
  readonly caller: Caller
  readonly tools: SnippetTools
  readonly callbacks: CallbackSettings | undefined
}

const ID = 'task_'

/**
 * An operation name is unique forever, so a name derived from the key makes requests idempotent: the journal refuses a
 * second one, even after a crash. A second request that arrives while the first is being submitted waits for it.
 */
export async function submitSnippet(options: SubmitOptions, by: SubmitTools): Promise<Submitted> {
  const { request } = options
  const { caller, tools, callbacks } = by
  mustBeCallable(request, callbacks)
  if (request.idempotencyKey === undefined) return await submitNew(options, `${ID}${plain(tools.newId())}`, by)
  const name = `${ID}${hashed(request.instance, request.idempotencyKey)}`
  const before = tools.underWay.get(name)
  if (before !== undefined) await before.catch(() => {})
  const known = await tools.engine.find(caller, name)
  if (known !== undefined) return repeated(known, request)
  if (tools.underWay.has(name)) return await submitSnippet(options, by)
  const submitting = submitNew(options, name, by).finally(() => tools.underWay.delete(name))
  tools.underWay.set(name, submitting)
  return await submitting
}

const plain = (id: string): string => id.replaceAll(/[^0-9A-Za-z]/g, '').toLowerCase()

const hashed = (instance: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([instance, key]))
    .digest('hex')
    .slice(0, 40)

async function submitNew(options: SubmitOptions, name: string, by: SubmitTools): Promise<Submitted> {
  const { caller, tools, callbacks } = by
  if (requiresVersion(options.request)) await tools.awaited.settled(options.request)
  const { taskRequest, known } = snippetTask(options, name, tools)
  const hasCallback = options.request.callback !== undefined && callbacks !== undefined
  if (hasCallback) await callbacks.log.owe(name, tools.clock.now())
  tools.views.hold(name, known)
  try {
    return { operation: await tools.engine.submit(caller, taskRequest), isKnown: false }
  } catch (error) {
    tools.views.release(name)
    const existing = isTaken(error) ? await tools.engine.find(caller, name) : undefined
    if (existing !== undefined) return repeated(existing, options.request)
    if (hasCallback) await callbacks.log.drop(name)
    throw error
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof FaultError && error.fault.kind === 'invalid' && error.fault.why === 'exists'

function repeated(operation: OperationStatus, request: SnippetRequest): Submitted {
  const note = noteFromBytes(operation.note)
  if (operation.origin !== SNIPPET_ORIGIN || note?.request !== requestHash(request))
    throw new SnippetRefusal('key', 'another request has used this idempotency key')
  return { operation, isKnown: true }
}

function mustBeCallable({ callback }: SnippetRequest, callbacks: CallbackSettings | undefined): void {
  if (callback === undefined) return
  const problem =
    callbacks === undefined ? 'this server sends no callbacks' : callbackProblem(callback.url, callbacks.addresses)
  if (problem !== undefined) throw new SnippetRefusal('callback', `the callback is not possible: ${problem}`)
}

interface SnippetTask {
  readonly taskRequest: TaskRequest & { readonly operation: string }
  readonly known: KnownRequest
}

/** The task of a request, and the request as the service keeps it until the end. */
function snippetTask(options: SubmitOptions, operation: string, tools: SnippetTools): SnippetTask {
  const { request, durability } = options
  const { language, pinned, version } = chooseLanguage(request, tools)
  const task = tools.lower(request, language, pinned)
  const estimateMs = tools.durations.estimateMs(language.name, codeHashOf(request))
  const note = noteOf(request, { language: language.name, version, expectedHash: options.expectedHash })
  const taskRequest = commandTaskRequest(task, {
    instance: request.instance,
    origin: SNIPPET_ORIGIN,
    form: formOf(request, language),
    durability: request.interactive === undefined ? durability : 'process', // a power failure ends its connection
    mayStartEarly: !request.network,
    // A task with external effects must be durable first. A second request with the same key is acknowledged at once.
    ...(options.deferAck === true && !request.network && request.idempotencyKey === undefined && { deferAck: true }),
    operation,
    note: noteToBytes(note),
    labels: labelsFor({ ...request, language: language.name }),
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.invocation !== undefined && { invocation: request.invocation }),
    ...(estimateMs !== undefined && { estimateMs }),
    ...(pinned !== undefined && { salt: `${language.name}@${pinned}` }),
  })
  const kept = { ...request, language: language.name, expected: note.expected }
  return { taskRequest: { ...taskRequest, operation }, known: { request: kept, note, fn: task.fn } }
}

/**
 * Code and the name of its language are enough for a worker of the simplest kind; other fields need a Windlass worker.
 */
function formOf(request: SnippetRequest, { fileName }: Language): TaskForm {
  const { files, stdin, args, env, outputs, interactive, network, isolation, cacheable } = request
  const isSimple =
    files.length === 1 &&
    (files[0]?.name === fileName || files[0]?.name === '') &&
    stdin === undefined &&
    args.length + env.length + outputs.length === 0 &&
    interactive === undefined &&
    isolation === undefined &&
    !network &&
    !cacheable
  return isSimple ? 'snippet' : 'command'
}
