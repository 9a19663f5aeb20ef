import { FaultError } from '../../base/fault.ts'
import { silentLog } from '../../base/log.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { isOver, type SnippetRequest, type SnippetStatus } from '../../model/snippet.ts'
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
  const watch: SnippetService['watch'] = (id, watcher) => watchSnippet(id, watcher, { tools, complete })
  const service: OpenSnippetService = {
    languages: () => languageOffers(tools.languages, tools.offers),
    ...tools.awaited,
    mustBeOpen: () => refuseIf(options.draining),
    submit: (request, durability = 'power') => submit({ request, durability }),
    async run(request, limit) {
      const accepted = await submit({ request, durability: 'power', deferAck: true })
      const status = isOver(accepted) ? accepted : await service.wait(accepted.id, limit)
      if (!isOver(status)) await engine.secure()
      return status
    },
    async rerun(id) {
      const told = await find(id)
      if (told === undefined) return undefined
      const request: SnippetRequest = { ...told.status.request, idempotencyKey: undefined }
      return await submit({ request, durability: 'power', expectedHash: told.note?.expectedHash })
    },
    async find(id) {
      const told = await find(id)
      return told && (await complete(told))
    },
    watch,
    wait: (id, limit) => waitFor(id, { ...limit, clock, watch }),
    async cancel(id) {
      await mustFind(id)
      await engine.cancel(LOCAL_CALLER, id)
    },
    list: (query, cursor) => listSnippets(query, cursor, { tools, complete: verdicts.cheap }),
    async why(id) {
      const { state, what } = (await mustFind(id)).status
      return what === undefined ? await engine.why(LOCAL_CALLER, id) : [`${state}: ${what}`]
    },
    listenOutput: (id, wake) => engine.listenOutput(LOCAL_CALLER, id, wake),
    delivery: (id) => callbacks?.log.of(id),
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
  (find: (id: string) => Promise<SnippetView | undefined>) =>
  async (id: string): Promise<SnippetView> => {
    const view = await find(id)
    if (view === undefined) throw noSnippet(id)
    return view
  }

type Parts = Pick<ReturnType<typeof openParts>, 'tools' | 'complete' | 'follower'>

const submitting =
  ({ draining, callbacks }: SnippetServiceOptions, { tools, complete, follower }: Parts) =>
  async (options: SnippetTaskOptions): Promise<SnippetStatus> => {
    refuseIf(draining)
    const { operation, isKnown } = await submitSnippet(options, tools, callbacks)
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
  const find = async (id: string): Promise<SnippetView | undefined> => {
    const operation = await engine.find(LOCAL_CALLER, id)
    return operation && tools.views.of(operation)
  }
  const sender = callbacks && sendingCallbacks({ callbacks, tools, find, complete, asked })
  const follower = followEnds(tools, sender)
  if (callbacks !== undefined) for (const id of callbacks.log.owed()) follower.resume(id, callbacks.log)
  return { tools, verdicts, complete, find, sender, follower }
}

function refuseIf(draining: AbortSignal | undefined): void {
  if (draining?.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
}
