import { describe, expect, test } from 'vitest'
import type { StepStatus, WorkflowRunHead, WorkflowRunRequest } from '../driver/workflow-run.ts'
import type { StepNote, StoredEnd, WorkflowStore } from './workflow-store.ts'

const order: WorkflowRunRequest = {
  instance: '',
  workflow: { class: 'Workflow', steps: [] },
  inputs: { word: 'an “input”\n' },
  schemas: {},
  name: 'a name',
  labels: { team: 'blue' },
  priority: 0,
}
const headOf = (id: string, createdAt: number): WorkflowRunHead => ({
  ...{ id, createdAt, instance: '', name: 'a name', labels: { team: 'blue' } },
})
const step: StepStatus = {
  path: 'align[3]/sort',
  state: 'success',
  cached: false,
  operation: 'x-1',
  startedAt: 5,
  endedAt: 6,
  why: undefined,
}
const note: StepNote = { step, made: { outputs: { out: { class: 'File', location: 'cas:…' } }, replaced: { a: 'b' } } }
const another: StepNote = { step: { ...step, path: 'sort' }, made: { outputs: {}, replaced: {} } }
const endOf = (head: WorkflowRunHead): StoredEnd => ({
  head,
  end: { state: 'completed', at: 9, outputs: { out: 1 }, failure: undefined },
  steps: [step],
})
/** Converts to JSON and back, which drops undefined fields. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** `reopen` returns the store as it is after a restart. */
export function workflowStoreContract(make: () => Promise<{ store: WorkflowStore; reopen(): Promise<WorkflowStore> }>) {
  describe('workflow store', () => {
    test('added runs and their step notes are loaded, oldest first', async () => {
      const { store, reopen } = await make()
      await store.add({ head: headOf('b', 2), order })
      await store.add({ head: headOf('a', 1), order })
      store.note('a', note)
      store.note('a', another)
      await store.close()
      const { open, over } = await (await reopen()).load()
      expect(open.map(({ head }) => head.id)).toEqual(['a', 'b'])
      expect(plain(open[0])).toEqual(plain({ head: headOf('a', 1), order, notes: [note, another] }))
      expect(over).toEqual([])
    })

    test('an ended run is loaded with its end, and is not listed as unfinished', async () => {
      const { store, reopen } = await make()
      const head = headOf('a', 1)
      await store.add({ head, order })
      store.note('a', note)
      await store.end('a', endOf(head))
      await store.close()
      const again = await reopen()
      const { open, over } = await again.load()
      expect(open).toEqual([])
      expect(plain(over)).toEqual(plain([{ head, end: endOf(head).end }]))
      expect(plain(await again.ended('a'))).toEqual(plain(endOf(head)))
    })

    test('a removed run is not loaded, and an unknown run is undefined', async () => {
      const { store, reopen } = await make()
      const head = headOf('a', 1)
      await store.add({ head, order })
      await store.end('a', endOf(head))
      await store.remove('a')
      await store.remove('never')
      await store.close()
      const again = await reopen()
      expect(await again.load()).toEqual({ open: [], over: [] })
      expect(await again.ended('a')).toBeUndefined()
      expect(await again.ended('../a')).toBeUndefined()
    })
  })
}
