/**
 * The client has its own types for the API's requests and responses, because it may not import the server: they must
 * match.
 */
import { expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type {
  LanguageView,
  NewSnippet,
  SnippetListPage,
  SnippetTaskView,
  SubmittedTask,
} from '../../src/client/snippets/snippet-answers.ts'
import type { LanguagesAnswer, ListAnswer, SubmittedAnswer, TaskAnswer } from '../../src/doors/http/snippets/answers.ts'
import type { taskBody } from '../../src/doors/http/snippets/task-body.ts'

/** The names and value types; JSON has neither readonly nor undefined. */
type Plain<T> = T extends readonly (infer Element)[]
  ? Plain<Element>[]
  : T extends object
    ? { -readonly [Key in keyof T]-?: Plain<Exclude<T[Key], undefined>> }
    : T

/** The keys that may be absent. */
type Optional<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T]

test('the types of the client match the responses of the API', () => {
  expectTypeOf<Plain<SnippetTaskView>>().toEqualTypeOf<Plain<TaskAnswer>>()
  expectTypeOf<Optional<SnippetTaskView>>().toEqualTypeOf<Optional<TaskAnswer>>()
  expectTypeOf<Plain<SnippetListPage>>().toEqualTypeOf<Plain<ListAnswer>>()
  expectTypeOf<Plain<SubmittedTask>>().toEqualTypeOf<Plain<SubmittedAnswer>>()
  expectTypeOf<Plain<LanguageView>[]>().toEqualTypeOf<Plain<LanguagesAnswer['languages']>>()
})

test('the types of the client match the requests of the API', () => {
  expectTypeOf<keyof NewSnippet>().toEqualTypeOf<keyof z.input<typeof taskBody>>()
})
