import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { workflowStoreContract } from './contract.ts'
import { fileWorkflowStore } from './file-workflow-store.ts'

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-submissions-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

workflowStoreContract(async () => {
  const folder = ownFolder()
  return { store: fileWorkflowStore(folder), reopen: async () => fileWorkflowStore(folder) }
})

test('an incomplete line is ignored, and an incomplete draft is deleted', async () => {
  const folder = ownFolder()
  mkdirSync(join(folder, 'half'))
  writeFileSync(join(folder, 'half', 'order.json.draft'), '{"head"')
  mkdirSync(join(folder, 'whole'))
  writeFileSync(join(folder, 'whole', 'order.json'), JSON.stringify({ head: { id: 'whole', createdAt: 1 }, order: {} }))
  appendFileSync(join(folder, 'whole', 'steps.jsonl'), '{"step":{"path":"a"}}\n{"step":{"pa')
  const { open } = await fileWorkflowStore(folder).load()
  expect(open).toMatchObject([{ head: { id: 'whole' }, notes: [{ step: { path: 'a' } }] }])
  expect(existsSync(join(folder, 'half'))).toBe(false)
})
