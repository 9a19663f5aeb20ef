import { unsuccessfulLabel } from '../../engine/tasks/end-label.ts'
import { findLanguage } from '../../languages/find-language.ts'
import type { SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import { labelsFor } from './snippet-labels.ts'
import type { SnippetPage, SnippetQuery } from './snippet-service.ts'
import type { SnippetTools } from './snippet-tools.ts'
import { SNIPPET_ORIGIN, type SnippetView, taskStatesFor } from './snippet-view.ts'

const DEFAULT_LIMIT = 50
const MOST_LIMIT = 500
/** The most tasks that one request reads: tens of milliseconds, with pauses. */
export const MOST_READ = 1000
/** Tasks per journal query after the first one, which reads what the page can hold. */
const AT_ONCE = 250
/** The most journal queries of one request: a query may return few tasks. */
const MOST_PAGES = 8

interface Listing {
  readonly scope: CallScope
  readonly tools: SnippetTools
  readonly complete: (view: SnippetView) => Promise<SnippetStatus>
}

/**
 * Newest first. The journal finds tasks by their labels and states. The service checks each operation again: operations
 * that share a task differ in metadata, a completed task may be a failed snippet, and old tasks have no labels.
 */
export async function listSnippets(
  query: SnippetQuery,
  cursor: string | undefined,
  { scope, tools, complete }: Listing,
): Promise<SnippetPage> {
  const limit = Math.min(MOST_LIMIT, Math.max(1, query.limit ?? DEFAULT_LIMIT))
  const language = query.language && (findLanguage(tools.languages, query.language)?.name ?? query.language)
  const asked = inJournal({ ...query, language }, scope.instance)
  const snippets: SnippetStatus[] = []
  let next = cursor
  let left = MOST_READ
  for (let page = 0; page < MOST_PAGES && left > 0 && snippets.length < limit; page++) {
    const atOnce = page === 0 ? limit : AT_ONCE
    const found = await tools.engine.everyOperation(scope.caller, { ...asked, limit: Math.min(atOnce, left) }, next)
    left -= found.operations.length
    next = found.next
    for (const { status: operation, place } of found.operations) {
      if (snippets.length === limit) return { snippets, next: place }
      const view = tools.views.of(operation)
      if (view !== undefined && matches(view.status, { ...query, language })) snippets.push(await complete(view))
    }
    await new Promise<void>((resolve) => setImmediate(resolve)) // lets other requests run
    if (next === undefined) break
  }
  return { snippets, next }
}

const inJournal = ({ states, language, metadata }: SnippetQuery, instance: string) => ({
  instance,
  origin: SNIPPET_ORIGIN,
  labels: [
    ...(isOnlyFailure(states) ? [unsuccessfulLabel({ instance, origin: SNIPPET_ORIGIN })] : []),
    ...labelsFor({ instance, language, metadata }),
  ],
  states: states && taskStatesFor(states),
  // A cancelled task has ended for the caller that cancelled it, even if it continues for others.
  orLeft: states?.includes('cancelled') ?? false,
})

const isOnlyFailure = (states: SnippetQuery['states']): boolean =>
  states?.every((state) => state === 'failed' || state === 'timeout') ?? false

const matches = ({ state, request }: SnippetStatus, { states, language, metadata }: SnippetQuery): boolean =>
  (states?.includes(state) ?? true) &&
  (language ?? request.language) === request.language &&
  Object.entries(metadata).every(
    ([key, value]) => Object.hasOwn(request.metadata, key) && request.metadata[key] === value,
  )
