import { describe, expect, test } from 'vitest'
import { committedPicture, pictures } from './draw.ts'
import { foldersPicture } from './folders-picture.ts'
import { taskPicture } from './task-picture.ts'

test.each(Object.entries(pictures()))('docs/pictures/%s is up to date (if not: npm run pictures)', (name, drawn) => {
  expect(committedPicture(name)).toBe(drawn)
})

describe('the picture of the folders', () => {
  test('has a box for every folder, and no arrow that follows from others', () => {
    const drawn = foldersPicture({ base: [], a: ['base', 'b', 'c'], b: ['base', 'c'], c: ['base'] }, ['base'])
    for (const name of ['a/', 'b/', 'c/', 'base/']) expect(drawn).toContain(`>${name}`)
    expect(drawn.match(/class="arrow"/g)).toHaveLength(2)
  })

  test('can be drawn when folders import each other', () => {
    expect(foldersPicture({ a: ['b'], b: ['a'] }, []).match(/class="arrow"/g)).toHaveLength(1)
  })
})

test('the picture of a task has a named arrow for every move, and marks final states', () => {
  const drawn = taskPicture({ one: { go: 'two', stop: 'end' }, two: { back: 'one' }, end: {} })
  expect(drawn.match(/class="arrow"/g)).toHaveLength(3)
  for (const name of ['go', 'stop', 'back', 'one', 'two', 'end']) expect(drawn).toContain(`>${name}<`)
  expect(drawn.match(/<rect class="end"/g)).toHaveLength(1)
})
