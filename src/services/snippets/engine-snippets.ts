import { FaultError } from '../../base/fault.ts'
import { silentLog } from '../../base/log.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { type NetworkDoor, type NetworkGrants, networkRefusal } from '../../model/properties/network-grants.ts'
import type { SnippetRequest, SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import { awaitedLanguages } from './awaited-languages.ts'
import type { FormSnippets } from './callback-form.ts'
import { codeDurations, codeHashOf } from './durations.ts'
import { listSnippets } from './list-snippets.ts'
import { languageOffers, liveOffers } from './live-offers.ts'
import { rememberedVerdicts } from './remembered-verdicts.ts'
import { sendingCallbacks } from './sending-callbacks.ts'
import { SnippetRefusal } from './snippet-refusal.ts'
import type { SnippetService } from './snippet-service.ts'
import type { SnippetServiceOptions, SnippetTools } from './snippet-tools.ts'
import { type SnippetView, snippetViews } from './snippet-view.ts'
import { type SubmitOptions, submitSnippet } from './submit-snippet.ts'
import { followEnds, noSnippet, waitFor, watchSnippet } from './watch-snippets.ts'

/** `close` stops following operations and sending callbacks. */
export interface OpenSnippetService extends SnippetService {
  close(): void
}

/** The service over the engine. It resumes operations and callbacks that were open when the last process ended. */
export function snippetService(options: SnippetServiceOptions): OpenSnippetService {
  const { engine, callbacks } = options
  const { tools, verdicts, complete, find, sender, follower } = openParts(options, () => service)
  const mustFind = mustBeFound(find)
  const submit = submitting(options, { tools, follower })
  const statusOf = (operation: OperationStatus): Promise<SnippetStatus> => {
    const view = tools.views.of(operation)
    if (view === undefined) throw new FaultError({ kind: 'bug', what: 'a snippet was accepted with another origin' })
    return complete(view)
  }
  const service: OpenSnippetService = {
    languages: () => languageOffers(tools.languages, tools.offers),
    ...tools.awaited,
    mustBeOpen: () => refuseIf(options.draining),
    async submit(scope, request, durability = 'power') {
      return await statusOf(await submit(scope, { request, durability }))
    },
    async run(scope, request, limit) {
      const operation = await submit(scope, { request, durability: 'power', deferAck: true })
      if (operation.end !== undefined) return await statusOf(operation)
      const status = await service.wait(scope, operation.operation, limit)
      if (status.completedAt === undefined) await engine.secure()
      return status
    },
    async rerun(scope, id) {
      const view = await find(scope, id)
      if (view === undefined) return undefined
      const request: SnippetRequest = { ...view.status.request, idempotencyKey: undefined }
      return await statusOf(
        await submit(scope, { request, durability: 'power', expectedHash: view.note?.expectedHash }),
      )
    },
    async find(scope, id) {
      const view = await find(scope, id)
      return view && (await complete(view))
    },
    watch: (scope, id, watcher) => watchSnippet(id, watcher, { scope, tools, complete }),
    wait: (scope, id, limit) => waitFor(id, limit, { scope, tools, complete }),
    async cancel(scope, id) {
      await mustFind(scope, id)
      await engine.cancel(scope.caller, id)
    },
    list: (scope, query, cursor) => listSnippets(query, cursor, { scope, tools, complete: verdicts.cheap }),
    async why(scope, id) {
      const { state, what } = (await mustFind(scope, id)).status
      return what === undefined ? await engine.why(scope.caller, id) : [`${state}: ${what}`]
    },
    listenOutput: (scope, id, wake) => engine.listenOutput(scope.caller, id, wake),
    delivery: (_, id) => callbacks?.log.of(id),
    estimateMs(request) {
      const language = findLanguage(tools.languages, request.language)
      return language && tools.durations.estimateMs(language.name, codeHashOf(request))
    },
    close() {
      follower.close()
      sender?.close()
    },
  }
  return service
}

const mustBeFound =
  (find: (scope: CallScope, id: string) => Promise<SnippetView | undefined>) =>
  async (scope: CallScope, id: string): Promise<SnippetView> => {
    const view = await find(scope, id)
    if (view === undefined) throw noSnippet(id)
    return view
  }

type Parts = Pick<ReturnType<typeof openParts>, 'tools' | 'follower'>

const submitting =
  ({ draining, callbacks }: SnippetServiceOptions, { tools, follower }: Parts) =>
  async ({ caller, instance }: CallScope, options: SubmitOptions): Promise<OperationStatus> => {
    refuseIf(draining)
    const { request } = options
    const owned = request.instance === instance ? options : { ...options, request: { ...request, instance } }
    const { operation, isKnown } = await submitSnippet(owned, { caller, tools, callbacks })
    if (!isKnown) follower.follow(operation)
    return operation
  }

/** `asked` returns the service itself, for parts that use it after its start. */
function openParts({ callbacks, log = silentLog, ...options }: SnippetServiceOptions, asked: () => FormSnippets) {
  const { engine, clock, languages, noWorkerGraceMs: graceMs = 60_000, isWorkerComing = () => false } = options
  const offers = liveOffers(engine.workers, clock)
  const tools: SnippetTools = {
    ...options,
    log,
    offers,
    awaited: awaitedLanguages({ languages, offers, clock, graceMs, isWorkerComing }),
    durations: codeDurations(),
    views: snippetViews(),
    underWay: new Map(),
  }
  const verdicts = rememberedVerdicts(tools)
  const complete = async (view: SnippetView): Promise<SnippetStatus> =>
    view.note?.expectedHash === undefined ? view.status : await verdicts.whole(view)
  // An operation of another instance does not exist for this caller.
  const find = async ({ caller, instance }: CallScope, id: string): Promise<SnippetView | undefined> => {
    const operation = await engine.find(caller, id)
    return operation?.instance === instance ? tools.views.of(operation) : undefined
  }
  const findOwed = async (id: string): Promise<SnippetView | undefined> => {
    const operation = await engine.find(LOCAL_CALLER, id)
    return operation && tools.views.of(operation)
  }
  const sender = callbacks && sendingCallbacks({ callbacks, tools, find: findOwed, complete, asked })
  const follower = followEnds(tools, sender)
  if (callbacks !== undefined) for (const id of callbacks.log.owed()) follower.resume(id, callbacks.log)
  return { tools, verdicts, complete, find, sender, follower }
}

function refuseIf(draining: AbortSignal | undefined): void {
  if (draining?.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
}

/** Refuses snippets that ask for a network, unless the operator grants it to their instance and this door. */
export function grantingNetwork(inner: SnippetService, door: NetworkDoor, grants: NetworkGrants): SnippetService {
  const mustBeGranted = ({ network, instance }: SnippetRequest): void => {
    if (network && !grants(door, instance)) throw new SnippetRefusal('network', networkRefusal(door, instance))
  }
  return {
    ...inner,
    async submit(scope, request, durability) {
      mustBeGranted(request)
      return await inner.submit(scope, request, durability)
    },
    async run(scope, request, limit) {
      mustBeGranted(request)
      return await inner.run(scope, request, limit)
    },
    async rerun(scope, id) {
      // The operator may have revoked the grant after the first run.
      const before = await inner.find(scope, id)
      if (before !== undefined) mustBeGranted(before.request)
      return await inner.rerun(scope, id)
    },
  }
}
