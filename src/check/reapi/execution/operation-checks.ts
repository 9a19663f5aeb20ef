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

/** The same, then cancels the operation and waits for its end, so that it does not occupy a worker. */
async function cancelled(probe: Probe) {
  const digest = await probe.executions.store({ script: LONG })
  const stream = probe.executions.open(digest)
  const name = (await stream.next())?.name ?? ''
  await probe.operations.cancel(name)
  const ending = await probe.soon(probe.executions.end(stream))
  ensure(ending !== undefined, 'it to end', 'it keeps running')
  return { digest, ending }
}

async function unknownName(probe: Probe): Promise<string> {
  const { name, stream } = await startedExecution(probe, ':')
  await stream.rest()
  return unknownOperation(name)
}

/** Reads pages until one contains the operation. */
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
    await implemented(probe.operations.get(await unknownName(probe)))
  },
  'operations.get': patiently(async (probe, seconds) => {
    const { name, stream } = await startedExecution(probe, sleepScript(seconds))
    const { done, name: returned } = await probe.operations.get(name)
    await stream.rest()
    same('name', returned, name)
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
    await expectRefusal('it', STATUS.notFound, probe.operations.get(await unknownName(probe)))
  },
  async 'operations.cancel'(probe) {
    const { ending } = await cancelled(probe)
    endsWith('it', ending, STATUS.cancelled)
    same('done', ending.last?.done ?? false, true)
  },
  async 'operations.cancel-unknown'(probe) {
    await expectRefusal('it', STATUS.notFound, probe.operations.cancel(await unknownName(probe)))
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
    ensure(found !== undefined, `${name} in the list`, 'it is missing')
  }),
  async 'operations.list-pages'(probe) {
    for (let count = 0; count < 3; count++) await probe.executions.run({})
    const seen = new Set<string>()
    let token = ''
    // Other operations can start and finish in between, but no operation may be on two pages.
    for (let page = 0; page < 20; page++) {
      const { operations, nextPageToken } = await probe.operations.list(probe.offer.instance, { size: 1, token })
      if (page === 0 && operations.length === 0) throw new NotOffered('the server does not list finished operations')
      ensure(operations.length <= 1, 'at most one operation per page', `${operations.length}`)
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
    await expectRefusal('it', STATUS.notFound, probe.operations.delete(await unknownName(probe)))
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
