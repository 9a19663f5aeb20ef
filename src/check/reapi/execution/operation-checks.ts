import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, NotOffered, same } from '../../unmet.ts'
import { implemented } from '../probe/implemented.ts'
import type { OperationMessage } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'
import { endsWith } from './read-result.ts'
import { sleepScript, startedExecution, unknownOperation } from './wait-checks.ts'

const LONG = 'sleep 20'

/** The same, cancelled and seen to end: nothing is left behind that would keep a worker. */
async function cancelled(probe: Probe) {
  const digest = await probe.executions.store({ script: LONG })
  const stream = probe.executions.open(digest)
  const name = (await stream.next())?.name ?? ''
  await probe.operations.cancel(name)
  const ending = await probe.soon(probe.executions.end(stream))
  ensure(ending !== undefined, 'it to end', 'that it goes on')
  return { digest, ending }
}

async function nobody(probe: Probe): Promise<string> {
  const { name, stream } = await startedExecution(probe, ':')
  await stream.rest()
  return unknownOperation(name)
}

/** Page after page, until one has it. */
async function findListed(probe: Probe, name: string): Promise<OperationMessage | undefined> {
  let token = ''
  for (let page = 0; page < 200; page++) {
    const { operations, nextPageToken } = await probe.operations.list(probe.offer.instance, { token })
    const found = operations.find((each) => each.name === name)
    if (found !== undefined || nextPageToken === '') return found
    token = nextPageToken
  }
  return undefined
}

export const operationChecks = {
  async 'operations.implemented'(probe) {
    await implemented(probe.operations.get(await nobody(probe)))
  },
  'operations.get': patiently(async (probe, seconds) => {
    const { name, stream } = await startedExecution(probe, sleepScript(seconds))
    const { done, name: told } = await probe.operations.get(name)
    await stream.rest()
    same('name', told, name)
    same('done', done, false)
  }),
  async 'operations.get-ended'(probe) {
    const { name, stream } = await startedExecution(probe, 'exit 3')
    await stream.rest()
    const { done, response } = await probe.operations.get(name)
    same('done', done, true)
    same('exit code', response?.result?.exitCode ?? 0, 3)
  },
  async 'operations.get-unknown'(probe) {
    await expectRefusal('it', STATUS.notFound, probe.operations.get(await nobody(probe)))
  },
  async 'operations.cancel'(probe) {
    const { ending } = await cancelled(probe)
    endsWith('it', ending, STATUS.cancelled)
    same('done', ending.last?.done ?? false, true)
  },
  async 'operations.cancel-unknown'(probe) {
    await expectRefusal('it', STATUS.notFound, probe.operations.cancel(await nobody(probe)))
  },
  async 'operations.cancel-ended'(probe) {
    const { name, stream } = await startedExecution(probe, 'exit 3')
    await stream.rest()
    await probe.operations.cancel(name)
    const ending = await probe.executions.end(probe.executions.wait(name))
    same('exit code', ending.last?.response?.result?.exitCode ?? 0, 3)
  },
  async 'operations.cancel-uncached'(probe) {
    const { digest } = await cancelled(probe)
    await expectRefusal('the lookup', STATUS.notFound, probe.api.getResult(digest))
  },
  'operations.list': patiently(async (probe, seconds) => {
    const { name, stream } = await startedExecution(probe, sleepScript(seconds))
    const found = await findListed(probe, name)
    await stream.rest()
    ensure(found !== undefined, `${name} in the list`, 'that it is not')
  }),
  async 'operations.list-pages'(probe) {
    for (let count = 0; count < 3; count++) await probe.executions.run({})
    const seen = new Set<string>()
    let token = ''
    // Other operations may start and end meanwhile; no operation may be on two pages all the same.
    for (let page = 0; page < 20; page++) {
      const { operations, nextPageToken } = await probe.operations.list(probe.offer.instance, { size: 1, token })
      if (page === 0 && operations.length === 0) throw new NotOffered('the server lists nothing that has ended')
      ensure(operations.length <= 1, 'no more than one operation on a page', `${operations.length}`)
      for (const { name } of operations) {
        ensure(!seen.has(name), 'another operation on each page', `${name} again`)
        seen.add(name)
      }
      token = nextPageToken
      if (token === '') break
    }
    ensure(seen.size > 1, 'more than one page', 'no next_page_token on the first')
  },
  async 'operations.delete'(probe) {
    const { name, stream } = await startedExecution(probe, ':')
    await stream.rest()
    await probe.operations.delete(name)
  },
  async 'operations.delete-unknown'(probe) {
    await expectRefusal('it', STATUS.notFound, probe.operations.delete(await nobody(probe)))
  },
  async 'operations.wait'(probe) {
    const { name, stream } = await startedExecution(probe)
    same('done', (await probe.operations.wait(name, 15)).done, true)
    await stream.rest()
  },
  'operations.wait-late': patiently(async (probe, seconds) => {
    const { name, stream } = await startedExecution(probe, sleepScript(seconds + 1))
    const { done } = await probe.operations.wait(name, 1)
    stream.close()
    same('done', done, false)
  }),
} satisfies Partial<Record<ExecutionId, Check>>
