import { findLanguage } from '../../languages/find-language.ts'
import type { SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import type { SnippetPage, SnippetQuery } from './snippet-service.ts'
import { SNIPPET_ORIGIN, type SnippetView, taskStatesFor } from './snippet-status.ts'
import type { SnippetTools } from './snippet-tools.ts'

const USUAL = 50
const MOST = 500
/** How many tasks one request looks at, whatever it asks for: some tens of milliseconds, with pauses. */
export const MOST_LOOKED_AT = 1000
/** How many of them at once, where not each is one that was asked for. */
const AT_ONCE = 250
/** And how often the journal is asked: what it gives at once may be little. */
const MOST_PAGES = 8

interface Listing {
  readonly scope: CallScope
  readonly tools: SnippetTools
  readonly complete: (view: SnippetView) => Promise<SnippetStatus>
}

/** The newest first. What the journal does not know (language, metadata) is looked for among what it gives. */
export async function listSnippets(
  query: SnippetQuery,
  cursor: string | undefined,
  { scope, tools, complete }: Listing,
): Promise<SnippetPage> {
  const limit = Math.min(MOST, Math.max(1, query.limit ?? USUAL))
  const language = query.language && (findLanguage(tools.languages, query.language)?.name ?? query.language)
  const snippets: SnippetStatus[] = []
  let next = cursor
  let left = MOST_LOOKED_AT
  for (let page = 0; page < MOST_PAGES && left > 0 && snippets.length < limit; page++) {
    const atOnce = isPlain(query) ? limit - snippets.length : AT_ONCE
    const found = await tools.engine.everyOperation(
      scope.caller,
      { ...inJournal(query), instance: scope.instance, limit: Math.min(atOnce, left) },
      next,
    )
    left -= found.operations.length
    next = found.next
    for (const { status: operation, place } of found.operations) {
      if (snippets.length === limit) return { snippets, next: place }
      const view = tools.views.of(operation)
      if (view !== undefined && isAskedFor(view.status, { ...query, language })) snippets.push(await complete(view))
    }
    await new Promise<void>((resolve) => setImmediate(resolve)) // others have a turn
    if (next === undefined) break
  }
  return { snippets, next }
}

/** Whatever the journal gives is asked for. */
const isPlain = ({ states, language, metadata }: SnippetQuery): boolean =>
  states === undefined && language === undefined && Object.keys(metadata).length === 0

const inJournal = ({ states }: SnippetQuery) => ({
  origin: SNIPPET_ORIGIN,
  states: states && taskStatesFor(states),
  // A task is over for the caller that cancelled it, even if it continues for others.
  orLeft: states?.includes('cancelled') ?? false,
})

const isAskedFor = ({ state, request }: SnippetStatus, { states, language, metadata }: SnippetQuery): boolean =>
  (states?.includes(state) ?? true) &&
  (language ?? request.language) === request.language &&
  Object.entries(metadata).every(
    ([key, value]) => Object.hasOwn(request.metadata, key) && request.metadata[key] === value,
  )
