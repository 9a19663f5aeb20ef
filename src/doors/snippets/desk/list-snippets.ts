import { findLanguage } from '../../../languages/find-language.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import type { SnippetPage, SnippetQuery } from '../snippet-desk.ts'
import type { DeskTools } from './desk-tools.ts'
import { SNIPPET_ORIGIN, type ToldSnippet, taskStatesFor, toldSnippet } from './snippet-status.ts'

const USUAL = 50
const MOST = 500
/** How many pages of the journal one question may turn, whatever it asks for. */
const MOST_PAGES = 4

/** The newest first. What the journal does not know (language, metadata) is looked for among what it gives. */
export async function listSnippets(
  query: SnippetQuery,
  cursor: string | undefined,
  { tools, complete }: { tools: DeskTools; complete: (told: ToldSnippet) => Promise<SnippetStatus> },
): Promise<SnippetPage> {
  const limit = Math.min(MOST, Math.max(1, query.limit ?? USUAL))
  const states = query.states && taskStatesFor(query.states)
  const snippets: SnippetStatus[] = []
  const language = query.language && (findLanguage(tools.languages, query.language)?.name ?? query.language)
  let next = cursor
  for (let page = 0; page < MOST_PAGES && snippets.length < limit; page++) {
    const found = await tools.engine.listOperations(
      { instance: query.instance, origin: SNIPPET_ORIGIN, states, limit: limit - snippets.length },
      next,
    )
    for (const operation of found.operations) {
      const told = toldSnippet(operation)
      if (told !== undefined && isAskedFor(told.status, { ...query, language })) snippets.push(await complete(told))
    }
    await new Promise<void>((resolve) => setImmediate(resolve)) // others have a turn
    next = found.next
    if (next === undefined) break
  }
  return { snippets, next }
}

const isAskedFor = ({ state, request }: SnippetStatus, { states, language, metadata }: SnippetQuery): boolean =>
  (states?.includes(state) ?? true) &&
  (language ?? request.language) === request.language &&
  Object.entries(metadata).every(
    ([key, value]) => Object.hasOwn(request.metadata, key) && request.metadata[key] === value,
  )
