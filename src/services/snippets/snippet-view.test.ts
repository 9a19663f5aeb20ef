import { expect, test } from 'vitest'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { snippetOf } from '../../model/snippet.ts'
import { snippetViews } from './snippet-view.ts'

const UNREADABLE = Uint8Array.of(255, 255)
const request = snippetOf({ language: 'python', files: [{ name: '', contents: Buffer.from('print(1)') }] })

const operation = (more: Partial<OperationStatus> = {}): OperationStatus => ({
  operation: 'task_1',
  task: 't',
  instance: '',
  origin: 'snippet',
  state: 'queued',
  attempt: 0,
  starts: 0,
  worker: undefined,
  acceptedAt: 1,
  joinedAt: 1,
  queuedAt: 1,
  assignedAt: undefined,
  startedAt: undefined,
  end: undefined,
  spec: UNREADABLE,
  note: undefined,
  ...more,
})

test('a held operation keeps the request that was received, and its task is not decoded', () => {
  const views = snippetViews()
  views.hold('task_1', { request, note: undefined, fn: 'sha256' })
  expect(views.of(operation())?.status.request).toBe(request)
})

test('watchers of one state share one view, and a new state has a new view', () => {
  const views = snippetViews()
  views.hold('task_1', { request, note: undefined, fn: 'sha256' })
  const first = views.of(operation())
  expect(views.of(operation())).toBe(first)
  const running = views.of(operation({ state: 'running', starts: 1, worker: 'w1', startedAt: 2 }))
  expect(running?.status).toMatchObject({ state: 'executing', worker: 'w1', startedAt: 2 })
})

test('a released operation is rebuilt from the journal, as far as its record can be decoded', () => {
  const views = snippetViews()
  views.hold('task_1', { request, note: undefined, fn: 'sha256' })
  views.release('task_1')
  expect(views.of(operation())?.status).toMatchObject({ id: 'task_1', state: 'submitted', request: { language: '' } })
})

test('above 1,000 held operations, the oldest are rebuilt from the journal', () => {
  const views = snippetViews()
  for (let i = 1; i <= 1001; i++) views.hold(`task_${i}`, { request, note: undefined, fn: 'sha256' })
  expect(views.of(operation())?.status.request.language).toBe('')
  expect(views.of(operation({ operation: 'task_2' }))?.status.request).toBe(request)
})

test('an operation of another origin has no view', () => {
  expect(snippetViews().of(operation({ origin: 'action' }))).toBeUndefined()
})
