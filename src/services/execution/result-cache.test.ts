import { expect, test } from 'vitest'
import { memoryActionCache } from '../../storage/memory-action-cache.ts'
import { actionKeyOf } from '../../wire/tasks/action-key.ts'
import { actionResultsCache } from './result-cache.ts'

const digest = { fn: 'sha256', hash: '1'.repeat(64), size: 7 } as const
const key = actionKeyOf(digest)
const OF_WORKER = Buffer.from('4a040a027731', 'hex') // the worker is w1
const EXIT_1 = Buffer.from('20014a040a027731', 'hex')

function cache() {
  const actions = memoryActionCache()
  const commands = memoryActionCache()
  return { actions, commands, results: actionResultsCache({ actionsOf: () => actions, commandsOf: () => commands }) }
}

test('a stored result is found under its action, only in its instance', async () => {
  const { actions, results } = cache()
  await results.put('main', key, OF_WORKER)
  expect(Buffer.from((await actions.get('main', digest)) ?? [])).toEqual(OF_WORKER)
  expect(Buffer.from((await results.get('main', key)) ?? [])).toEqual(OF_WORKER)
  expect(await results.get('other', key)).toBeUndefined()
})

test('a result with exit code 1 is not cached', async () => {
  const { actions, results } = cache()
  await results.put('main', key, EXIT_1)
  expect(await actions.get('main', digest)).toBeUndefined()
})

test('an empty result is stored with a worker, so that it is never empty', async () => {
  const { results } = cache()
  await results.put('main', key, new Uint8Array())
  expect((await results.get('main', key))?.length).toBeGreaterThan(0)
})

test('bytes that are no ActionResult are refused and not stored', async () => {
  const { actions, results } = cache()
  await expect(results.put('main', key, Buffer.from([0xff]))).rejects.toThrow('malformed ActionResult')
  expect(await actions.get('main', digest)).toBeUndefined()
})

test('results of command tasks are stored apart from the action cache of clients', async () => {
  const { actions, commands, results } = cache()
  const command = `command:${key}`
  await results.put('main', command, OF_WORKER)
  expect(await actions.get('main', digest)).toBeUndefined()
  expect(Buffer.from((await commands.get('main', digest)) ?? [])).toEqual(OF_WORKER)
  await actions.put('main', digest, EXIT_1)
  expect(Buffer.from((await results.get('main', command)) ?? [])).toEqual(OF_WORKER)
})

test('a result with another kind of key is not stored', async () => {
  const { results } = cache()
  await results.put('main', 'step/7', OF_WORKER)
  expect(await results.get('main', 'step/7')).toBeUndefined()
})
