import type { StepNote, StoredEnd, StoredRequest, WorkflowStore } from './workflow-store.ts'

/** Keeps runs in memory only: for tests, and for a server without persistence. */
export function memoryWorkflowStore(): WorkflowStore {
  const open = new Map<string, { readonly stored: StoredRequest; readonly notes: StepNote[] }>()
  const over = new Map<string, StoredEnd>()
  return {
    async add(stored) {
      open.set(stored.head.id, structuredClone({ stored, notes: [] }))
    },
    note: (id, note) => void open.get(id)?.notes.push(structuredClone(note)),
    async end(id, ended) {
      if (open.delete(id)) over.set(id, structuredClone(ended))
    },
    load: async () => ({
      open: [...open.values()].map(({ stored, notes }) => ({ ...stored, notes: [...notes] })).sort(byAge),
      over: [...over.values()].map(({ head, end }) => ({ head, end })).sort(byAge),
    }),
    ended: async (id) => over.get(id),
    async remove(id) {
      over.delete(id)
      open.delete(id)
    },
    async close() {},
  }
}

type Dated = Pick<StoredEnd, 'head'>
const byAge = (one: Dated, other: Dated): number => one.head.createdAt - other.head.createdAt
