/** The client has its own words for what the API takes and answers, for it may not know the server: they are the same. */
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

/** Names and what they hold; JSON knows neither what may not be changed nor what is there and undefined. */
type Plain<T> = T extends readonly (infer Element)[]
  ? Plain<Element>[]
  : T extends object
    ? { -readonly [Key in keyof T]-?: Plain<Exclude<T[Key], undefined>> }
    : T

/** Which may be left out. */
type Optional<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T]

test('what the client is told is what the API answers', () => {
  expectTypeOf<Plain<SnippetTaskView>>().toEqualTypeOf<Plain<TaskAnswer>>()
  expectTypeOf<Optional<SnippetTaskView>>().toEqualTypeOf<Optional<TaskAnswer>>()
  expectTypeOf<Plain<SnippetListPage>>().toEqualTypeOf<Plain<ListAnswer>>()
  expectTypeOf<Plain<SubmittedTask>>().toEqualTypeOf<Plain<SubmittedAnswer>>()
  expectTypeOf<Plain<LanguageView>[]>().toEqualTypeOf<Plain<LanguagesAnswer['languages']>>()
})

test('what the client may say is what the API takes', () => {
  expectTypeOf<keyof NewSnippet>().toEqualTypeOf<keyof z.input<typeof taskBody>>()
})
