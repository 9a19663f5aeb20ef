import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, NotOffered, same } from '../../unmet.ts'
import { completed } from '../probe/executions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'
import { endsWith, NONCE, stdoutText } from './read-result.ts'

const UNCACHED = { doNotCache: true }

function ranTwice(one: string, other: string): void {
  ensure(
    one.trim() !== '' && one !== other,
    'the command to be executed again',
    `the same output, ${JSON.stringify(one)}`,
  )
}

function ranOnce(one: string, other: string): void {
  ensure(one.trim() !== '' && one === other, 'the same output', `${JSON.stringify(one)} and ${JSON.stringify(other)}`)
}

/** Runs the same action twice concurrently; both are accepted while the first still runs. */
async function together(probe: Probe, seconds: number, doNotCache: boolean): Promise<[string, string]> {
  const { executions } = probe
  const digest = await executions.store({ script: `sleep ${seconds}; ${NONCE}`, action: { doNotCache } })
  const outputs = await Promise.all([0, 1].map(async () => stdoutText(probe, (await executions.run(digest)).result)))
  return outputs as [string, string]
}

const notStored = ({ api }: Probe, digest: Parameters<Probe['api']['getResult']>[0]): Promise<void> =>
  expectRefusal('the lookup', STATUS.notFound, api.getResult(digest))

export const cacheChecks = {
  async 'exec-cache.hit'({ executions }) {
    const digest = await executions.store({})
    await executions.run(digest)
    same('cached_result', (await executions.run(digest)).response.cachedResult, true)
  },
  async 'exec-cache.hit-same'(probe) {
    const digest = await probe.executions.store({ script: NONCE })
    const first = await probe.executions.run(digest)
    const again = await probe.executions.run(digest)
    if (!again.response.cachedResult) throw new NotOffered('the server did not cache the result')
    ranOnce(await stdoutText(probe, first.result), await stdoutText(probe, again.result))
  },
  async 'exec-cache.fresh'({ executions }) {
    same('cached_result', (await executions.run({})).response.cachedResult, false)
  },
  async 'exec-cache.stored'(probe) {
    const digest = await probe.executions.store({ script: NONCE })
    const { result } = await probe.executions.run(digest)
    ranOnce(await stdoutText(probe, result), await stdoutText(probe, await probe.api.getResult(digest)))
  },
  async 'exec-cache.skip-lookup'(probe) {
    const digest = await probe.executions.store({ script: NONCE })
    const first = await probe.executions.run(digest)
    const again = await probe.executions.run(digest, { skipCacheLookup: true })
    ranTwice(await stdoutText(probe, first.result), await stdoutText(probe, again.result))
  },
  async 'exec-cache.skip-overwrites'(probe) {
    const digest = await probe.executions.store({ script: NONCE })
    await probe.executions.run(digest)
    const again = await probe.executions.run(digest, { skipCacheLookup: true })
    ranOnce(await stdoutText(probe, again.result), await stdoutText(probe, await probe.api.getResult(digest)))
  },
  async 'exec-cache.do-not-cache'(probe) {
    const digest = await probe.executions.store({ action: UNCACHED })
    await probe.executions.run(digest)
    await notStored(probe, digest)
  },
  async 'exec-cache.do-not-cache-runs'(probe) {
    const digest = await probe.executions.store({ script: NONCE, action: UNCACHED })
    const first = await probe.executions.run(digest)
    const again = await probe.executions.run(digest)
    ranTwice(await stdoutText(probe, first.result), await stdoutText(probe, again.result))
  },
  async 'exec-cache.do-not-cache-unmerged'(probe) {
    ranTwice(...(await together(probe, 1, true)))
  },
  'exec-cache.merged': patiently(async (probe, seconds) => {
    ranOnce(...(await together(probe, seconds, false)))
  }),
  'exec-cache.merged-cancel': patiently(async ({ executions, operations }, seconds) => {
    const digest = await executions.store({ script: `sleep ${seconds}` })
    const [mine, other] = [executions.open(digest), executions.open(digest)]
    const [name, otherName] = [(await mine.next())?.name ?? '', (await other.next())?.name ?? '']
    if (name === otherName) throw new NotOffered('both clients got the same operation')
    await operations.cancel(otherName)
    await Promise.all([completed(mine), executions.end(other)])
  }),
  async 'exec-cache.failure'(probe) {
    const digest = await probe.executions.store({ script: 'exit 1' })
    await probe.executions.run(digest)
    await notStored(probe, digest)
  },
  async 'exec-cache.failure-runs'(probe) {
    const digest = await probe.executions.store({ script: `${NONCE}; exit 1` })
    const first = await probe.executions.run(digest)
    const again = await probe.executions.run(digest)
    same('cached_result', again.response.cachedResult, false)
    ranTwice(await stdoutText(probe, first.result), await stdoutText(probe, again.result))
  },
  async 'exec-cache.expired'(probe) {
    const digest = await probe.executions.store({ script: 'sleep 5', action: { timeout: { seconds: 1 } } })
    endsWith('it', await probe.executions.try(digest), STATUS.deadlineExceeded)
    await notStored(probe, digest)
  },
  async 'exec-cache.metadata'({ executions }) {
    const digest = await executions.store({})
    const { result } = await executions.run(digest)
    const again = await executions.run(digest)
    if (!again.response.cachedResult) throw new NotOffered('the server did not cache the result')
    const worker = result.executionMetadata?.worker ?? ''
    ensure(worker !== '', 'a worker', 'none')
    same('worker', again.result.executionMetadata?.worker ?? '', worker)
  },
} satisfies Partial<Record<ExecutionId, Check>>
