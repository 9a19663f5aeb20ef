import { SNIPPET_STATES, type SnippetState } from '../../../model/snippet.ts'
import { ApiProblem } from '../../../services/snippets/snippet-problem.ts'
import type { SnippetQuery } from '../../../services/snippets/snippet-service.ts'
import { METADATA } from './request.ts'

export const LIST_PARAMETERS = ['status', 'language', METADATA, 'limit', 'cursor'] as const

/** The query of `GET /api/v1/tasks`; the instance comes from the scope of the caller. */
export function listQuery(query: URLSearchParams): SnippetQuery {
  const states = query.getAll('status').flatMap((each) => each.split(','))
  const metadata: [string, string][] = []
  for (const [name, value] of query) if (name.startsWith(METADATA)) metadata.push([name.slice(METADATA.length), value])
  return {
    states: states.length === 0 ? undefined : states.map(stateIn),
    language: languageIn(query),
    metadata: Object.fromEntries(metadata),
    limit: wholeNumber(query.get('limit'), 'limit', 500),
  }
}

function stateIn(word: string): SnippetState {
  const state = SNIPPET_STATES.find((each) => each === word.toLowerCase())
  if (state === undefined)
    throw new ApiProblem(
      'query',
      `status: ${JSON.stringify(word.slice(0, 50))} is no state; the states are ${SNIPPET_STATES.join(', ')}`,
    )
  return state
}

function languageIn(query: URLSearchParams): string | undefined {
  const language = query.get('language') ?? undefined
  if (language === '') throw new ApiProblem('query', 'language: must be a name or an alias')
  return language
}

function wholeNumber(text: string | null, name: string, most: number): number | undefined {
  if (text === null) return undefined
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most) throw new ApiProblem('query', `${name}: must be a number from 1 to ${most}`)
  return number
}
