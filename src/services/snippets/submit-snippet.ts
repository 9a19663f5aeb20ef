import { createHash } from 'node:crypto'
import { FaultError } from '../../base/fault.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { Caller } from '../../model/caller.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import { callbackProblem } from './callbacks/callback-url.ts'
import { noteFromBytes } from './snippet-note.ts'
import { SnippetRefusal } from './snippet-refusal.ts'
import { SNIPPET_ORIGIN } from './snippet-status.ts'
import { asksForVersion, requestHash, type SnippetTaskOptions, snippetTaskRequest } from './snippet-task-request.ts'
import type { CallbackSettings, SnippetTools } from './snippet-tools.ts'

export interface Submitted {
  readonly operation: OperationStatus
  /** It was there under its key before. */
  readonly isKnown: boolean
}

const ID = 'task_'

/**
 * An operation name is unique for ever, so a name derived from the key gives idempotency: the journal refuses a second
 * one, even after a crash. A second request that comes while the first is being submitted waits for it.
 */
export async function submitSnippet(options: SnippetTaskOptions, by: Submitting): Promise<Submitted> {
  const { request } = options
  const { caller, tools, callbacks } = by
  mustBeCallable(request, callbacks)
  if (request.idempotencyKey === undefined) return await firstTime(options, `${ID}${plain(tools.newId())}`, by)
  const name = `${ID}${hashed(request.instance, request.idempotencyKey)}`
  const before = tools.underWay.get(name)
  if (before !== undefined) await before.catch(() => {})
  const known = await tools.engine.find(caller, name)
  if (known !== undefined) return again(known, request)
  if (tools.underWay.has(name)) return await submitSnippet(options, by)
  const submitting = firstTime(options, name, by).finally(() => tools.underWay.delete(name))
  tools.underWay.set(name, submitting)
  return await submitting
}

const plain = (id: string): string => id.replaceAll(/[^0-9A-Za-z]/g, '').toLowerCase()

const hashed = (instance: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([instance, key]))
    .digest('hex')
    .slice(0, 40)

export interface Submitting {
  readonly caller: Caller
  readonly tools: SnippetTools
  readonly callbacks: CallbackSettings | undefined
}

async function firstTime(options: SnippetTaskOptions, name: string, by: Submitting): Promise<Submitted> {
  const { caller, tools, callbacks } = by
  if (asksForVersion(options.request)) await tools.awaited.settled(options.request)
  const { taskRequest, known } = snippetTaskRequest(options, name, tools)
  const owes = options.request.callback !== undefined && callbacks !== undefined
  if (owes) await callbacks.log.owe(name, tools.clock.now())
  tools.views.hold(name, known)
  try {
    return { operation: await tools.engine.submit(caller, taskRequest), isKnown: false }
  } catch (error) {
    tools.views.release(name)
    const existing = isTaken(error) ? await tools.engine.find(caller, name) : undefined
    if (existing !== undefined) return again(existing, options.request)
    if (owes) await callbacks.log.drop(name)
    throw error
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof FaultError && error.fault.kind === 'invalid' && error.fault.why === 'exists'

function again(operation: OperationStatus, request: SnippetRequest): Submitted {
  const note = noteFromBytes(operation.note)
  if (operation.origin !== SNIPPET_ORIGIN || note?.request !== requestHash(request))
    throw new SnippetRefusal('key', 'this idempotency key came with another request before')
  return { operation, isKnown: true }
}

function mustBeCallable({ callback }: SnippetRequest, callbacks: CallbackSettings | undefined): void {
  if (callback === undefined) return
  const problem =
    callbacks === undefined ? 'this server makes none' : callbackProblem(callback.url, callbacks.addresses)
  if (problem !== undefined) throw new SnippetRefusal('callback', `the callback is not possible: ${problem}`)
}
