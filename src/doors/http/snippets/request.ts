import { nearest } from '../../../base/nearest.ts'
import { SNIPPET_STATES, type SnippetState } from '../../../model/snippet.ts'
import { ENCODINGS, type Encoding } from '../../../services/snippets/output-text.ts'
import { ApiProblem } from '../../../services/snippets/snippet-problem.ts'
import type { SnippetQuery } from '../../../services/snippets/snippet-service.ts'
import { durationIn } from '../../amount-text.ts'

/** The query parameters. An unknown one is an error: a filter that is misspelt would let everything through. */
export function onlyKnown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name) || (known.includes(METADATA) && name.startsWith(METADATA))) continue
    const like = nearest(name, known)
    const hint = like === undefined ? '' : `: did you mean ${like}?`
    throw new ApiProblem('query', `No parameter is called ${name.slice(0, 100)}${hint}`)
  }
}

const METADATA = 'metadata.'
export const LIST_PARAMETERS = ['status', 'language', METADATA, 'limit', 'cursor'] as const

/** The query of `GET /api/v1/tasks`; the instance is not the caller's to say. */
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
      `status: ${JSON.stringify(word.slice(0, 50))} is none; there are ${SNIPPET_STATES.join(', ')}`,
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

/** `wait=30s`; undefined for no wait. A longer time is cut to the maximum: the client asks again. */
export function waitIn(query: URLSearchParams, mostMs: number): number | undefined {
  const text = query.get('wait')
  if (text === null) return undefined
  const ms = durationIn(text)
  if (ms === undefined) throw new ApiProblem('amount', 'wait must be a duration such as "30s" or "500ms"')
  return Math.min(ms, mostMs)
}

export function encodingIn(query: URLSearchParams): Encoding {
  const text = query.get('encoding') ?? 'utf8'
  const encoding = ENCODINGS.find((each) => each === text)
  if (encoding === undefined) throw new ApiProblem('query', `encoding: must be ${ENCODINGS.join(' or ')}`)
  return encoding
}
