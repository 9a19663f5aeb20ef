import { FaultError } from '../../base/fault.ts'
import { silentLog } from '../../base/log.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { isOver, type SnippetRequest, type SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import { awaitedLanguages } from './awaited-languages.ts'
import type { FormSnippets } from './callback-form.ts'
import { codeDurations } from './durations.ts'
import { followEnds } from './follow-ends.ts'
import { listSnippets } from './list-snippets.ts'
import { languageOffers, liveOffers } from './live-offers.ts'
import { rememberedVerdicts } from './remembered-verdicts.ts'
import { sendingCallbacks } from './sending-callbacks.ts'
import type { SnippetService } from './snippet-service.ts'
import type { SnippetView } from './snippet-status.ts'
import { codeHashOf, type SnippetTaskOptions } from './snippet-task-request.ts'
import type { SnippetServiceOptions, SnippetTools } from './snippet-tools.ts'
import { snippetViews } from './snippet-views.ts'
import { submitSnippet } from './submit-snippet.ts'
import { noSnippet, waitFor, watchSnippet } from './watch-snippet.ts'

/** The service with its end: `close` stops following operations and sending callbacks. */
export interface OpenSnippetService extends SnippetService {
  stop(): void
}

/** The service over the engine. It resumes operations and callbacks that were open when the last process ended. */
export function snippetService(options: SnippetServiceOptions): OpenSnippetService {
  const { engine, clock, callbacks } = options
  const { tools, verdicts, complete, find, sender, follower } = openParts(options, () => service)
  const mustFind = mustBeFound(find)
  const submit = submitting(options, { tools, complete, follower })
  const watch: SnippetService['watch'] = (scope, id, watcher) => watchSnippet(id, watcher, { scope, tools, complete })
  const service: OpenSnippetService = {
    languages: () => languageOffers(tools.languages, tools.offers),
    ...tools.awaited,
    mustBeOpen: () => refuseIf(options.draining),
    submit: (scope, request, durability = 'power') => submit(scope, { request, durability }),
    async run(scope, request, limit) {
      const accepted = await submit(scope, { request, durability: 'power', deferAck: true })
      const status = isOver(accepted) ? accepted : await service.wait(scope, accepted.id, limit)
      if (!isOver(status)) await engine.secure()
      return status
    },
    async rerun(scope, id) {
      const view = await find(scope, id)
      if (view === undefined) return undefined
      const request: SnippetRequest = { ...view.status.request, idempotencyKey: undefined }
      return await submit(scope, { request, durability: 'power', expectedHash: view.note?.expectedHash })
    },
    async find(scope, id) {
      const view = await find(scope, id)
      return view && (await complete(view))
    },
    watch,
    wait: (scope, id, limit) => waitFor(id, { ...limit, scope, clock, watch }),
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
    stop() {
      follower.stop()
      sender?.stop()
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

type Parts = Pick<ReturnType<typeof openParts>, 'tools' | 'complete' | 'follower'>

const submitting =
  ({ draining, callbacks }: SnippetServiceOptions, { tools, complete, follower }: Parts) =>
  async ({ caller, instance }: CallScope, options: SnippetTaskOptions): Promise<SnippetStatus> => {
    refuseIf(draining)
    const { request } = options
    const owned = request.instance === instance ? options : { ...options, request: { ...request, instance } }
    const { operation, isKnown } = await submitSnippet(owned, { caller, tools, callbacks })
    const view = tools.views.of(operation)
    if (view === undefined) throw new FaultError({ kind: 'bug', what: 'a snippet was accepted with another origin' })
    if (!isKnown) follower.follow(operation)
    return await complete(view)
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
  const complete = verdicts.whole
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
