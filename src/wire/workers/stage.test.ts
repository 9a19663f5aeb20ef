import { expect, test } from 'vitest'
import {
  foundStageFromProto,
  foundStageToProto,
  keptStageFromProto,
  keptStageToProto,
  stageQuestionFromProto,
  stageQuestionToProto,
} from './stage.ts'

const question = { worker: 'w1', attemptId: 't.1.2', conditions: '["c","gcc 12"]' }

test('stage questions, kept stages and found stages round-trip', () => {
  expect(stageQuestionFromProto(stageQuestionToProto(question))).toEqual(question)
  const kept = { ...question, result: Uint8Array.of(1, 2) }
  const read = keptStageFromProto(keptStageToProto(kept))
  expect({ ...read, result: [...read.result] }).toEqual({ ...question, result: [1, 2] })
  expect(foundStageFromProto(foundStageToProto(undefined))).toBeUndefined()
  expect(Array.from(foundStageFromProto(foundStageToProto(Uint8Array.of(3))) ?? [])).toEqual([3])
})

test('stage conditions over 4,096 characters are refused', () => {
  const long = stageQuestionToProto({ ...question, conditions: 'x'.repeat(5000) })
  expect(() => stageQuestionFromProto(long)).toThrow(/the limit is 4096/)
})
